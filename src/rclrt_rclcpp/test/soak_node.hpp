// SPDX-License-Identifier: Apache-2.0
// The nodes of the soak, with their counters.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_action/rclcpp_action.hpp>
#include <std_msgs/msg/int64.hpp>
#include <stdexcept>
#include <string>
#include <test_msgs/action/fibonacci.hpp>
#include <test_msgs/srv/empty.hpp>
#include <thread>
#include <vector>

#include "rclrt_rclcpp/executors.hpp"

namespace rclrt_rclcpp::test {

using namespace std::chrono_literals;
using std_msgs::msg::Int64;
using test_msgs::action::Fibonacci;
using test_msgs::srv::Empty;
using Random = std::mt19937;
using Count = std::atomic<std::uint64_t>;

constexpr std::uint64_t kAhead = 200;   // messages that may be on their way
constexpr std::uint64_t kRequests = 8;  // below the depth of a service

struct Thrown : std::runtime_error {
  Thrown() : std::runtime_error("thrown by a callback") {}
};

inline bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

/// Operations of all callbacks, and counts that do not depend on the executors.
struct Shared {
  Count ran{0};
  Count thrown{0};
  std::atomic<bool> two_at_once{false};
  std::atomic<bool> ran_after_removal{false};
  std::atomic<bool> calm{false};       // no callback throws any more
  std::function<void()> now_and_then;  // called from within a callback
};

/// A node with an entity of each kind: in an exclusive group, a reentrant one, and the default one.
class SoakNode {
 public:
  SoakNode(Shared& shared, const std::string& name, const std::string& space,
           const std::string& topic, bool intra_process)
      : shared_(shared),
        node(std::make_shared<rclcpp::Node>(
            name, space, rclcpp::NodeOptions().use_intra_process_comms(intra_process))),
        exclusive(node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive)),
        reentrant(node->create_callback_group(rclcpp::CallbackGroupType::Reentrant)) {
    const auto qos = rclcpp::QoS(rclcpp::KeepAll()).reliable();
    rclcpp::SubscriptionOptions in_exclusive;
    in_exclusive.callback_group = exclusive;
    rclcpp::SubscriptionOptions in_reentrant;
    in_reentrant.callback_group = reentrant;
    // Within the process rclcpp refuses KEEP_ALL; the messages never exceed a ring of 1000.
    const auto own = intra_process ? rclcpp::QoS(1000).reliable() : qos;
    subscriptions_.push_back(node->create_subscription<Int64>(
        topic, own, [this](const Int64&) { ++taken[0], work(&in_group_); }, in_exclusive));
    subscriptions_.push_back(node->create_subscription<Int64>(
        topic, own, [this](const Int64&) { ++taken[1], work(nullptr); }, in_reentrant));
    if (intra_process) {
      within_ = node->create_publisher<Int64>("within", 10);
      subscriptions_.push_back(node->create_subscription<Int64>(
          "within", 10, [this](const Int64&) { work(&in_group_); }, in_exclusive));
    }
    service_ = node->create_service<Empty>(
        "serve", [this](const Empty::Request::SharedPtr&, const Empty::Response::SharedPtr&) {
          work(&in_default_, false);  // otherwise there is no answer
        });
    client = node->create_client<Empty>("serve", rclcpp::ServicesQoS(), reentrant);
    timers_.push_back(node->create_wall_timer(
        1ms,
        [this] {
          ++ticks;
          if (within_) {
            within_->publish(Int64());
          }
          work(&in_group_);
        },
        exclusive));
    timers_.push_back(rclcpp::create_timer(node, node->get_clock(), rclcpp::Duration(3ms),
                                           [this] { ++ticks, work(&in_default_); }));
    server_ = rclcpp_action::create_server<Fibonacci>(
        node, "act",
        [](const auto&, const auto&) { return rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE; },
        [](const auto&) { return rclcpp_action::CancelResponse::ACCEPT; },
        [this](const auto& goal) {
          work(&in_default_);
          goal->succeed(std::make_shared<Fibonacci::Result>());
        });
    goals_ = rclcpp_action::create_client<Fibonacci>(node, "act");
  }

  void request() {
    ++requests;
    client->async_send_request(std::make_shared<Empty::Request>(),
                               [this](rclcpp::Client<Empty>::SharedFuture) { ++answers; });
  }
  void send_goal() {
    rclcpp_action::Client<Fibonacci>::SendGoalOptions options;
    options.result_callback = [this](const auto&) { ++results; };
    goals_->async_send_goal(Fibonacci::Goal(), options);
  }
  bool ready() const { return client->service_is_ready() && goals_->action_server_is_ready(); }

  /// Marks the node as removed, and not by a callback: from here on none of its callbacks may run.
  void is_gone() { gone_.store(true); }
  void is_back() { gone_.store(false); }

 private:
  void work(std::atomic<int>* members, bool may_throw = true) {
    if (gone_.load()) {
      shared_.ran_after_removal = true;
    }
    struct Inside {
      std::atomic<int>* const members;
      const bool alone = members == nullptr || members->fetch_add(1) == 0;
      ~Inside() {
        if (members != nullptr) {
          --*members;
        }
      }
    } const inside{members};
    if (!inside.alone) {
      shared_.two_at_once = true;
    }
    const std::uint64_t count = ++shared_.ran;
    if (count % 64 == 0) {  // long enough for others to become ready meanwhile
      const auto end = std::chrono::steady_clock::now() + 300us;
      while (std::chrono::steady_clock::now() < end) {
      }
    }
    if (!shared_.calm && count % 509 == 0) {
      shared_.now_and_then();
    }
    if (may_throw && !shared_.calm && count % 251 == 0) {
      throw Thrown();
    }
  }

  Shared& shared_;
  std::atomic<bool> gone_{false};
  std::atomic<int> in_group_{0};    // members of the exclusive group in user code
  std::atomic<int> in_default_{0};  // and of the default group

 public:
  const rclcpp::Node::SharedPtr node;
  const rclcpp::CallbackGroup::SharedPtr exclusive;
  const rclcpp::CallbackGroup::SharedPtr reentrant;
  std::array<Count, 2> taken{};
  Count requests{0};
  Count answers{0};
  Count ticks{0};
  Count results{0};
  rclcpp::Client<Empty>::SharedPtr client;

 private:
  rclcpp::Publisher<Int64>::SharedPtr within_;
  std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions_;
  std::vector<rclcpp::TimerBase::SharedPtr> timers_;
  rclcpp::ServiceBase::SharedPtr service_;
  rclcpp_action::Server<Fibonacci>::SharedPtr server_;
  rclcpp_action::Client<Fibonacci>::SharedPtr goals_;
};

}  // namespace rclrt_rclcpp::test
