// SPDX-License-Identifier: Apache-2.0
// The ping/pong demo of ROS 2's callback-group executors (examples_rclcpp_cbg_executor), with one
// executor and two priorities instead of two executors and two threads. It runs for 10 s on CPU 0
// and prints how many pings of each path were answered, and how late.
//
//   ping_pong --ros-args -p ping_period:=0.033 -p high_busyloop:=0.025 -p low_busyloop:=0.01
//
// In seconds; the default of each is 0.01: the high path takes all of the CPU, the low path gets
// none.
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <numeric>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/int32.hpp>
#include <string>
#include <thread>
#include <vector>

#include "rclrt_rclcpp/detail/seconds_parameter.hpp"
#include "rclrt_rclcpp/executors.hpp"

namespace {

using std_msgs::msg::Int32;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

Seconds cpu_time_of_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return Seconds(static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9);
}

int percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<int>(100 * part / whole);
}

/// Returns a topic of this process: another ping_pong in the domain does not use it.
std::string topic(const std::string& name) {
  return "ping_pong_" + std::to_string(getpid()) + "/" + name;
}

/// Sends a ping on both paths each period, and records when each was answered.
class PingNode : public rclcpp::Node {
 public:
  PingNode()
      : Node("ping_node"),
        period_(rclrt_rclcpp::detail::declare_seconds(*this, "ping_period", 0.01)) {
    for (Path& path : paths_) {
      path.pings = create_publisher<Int32>(topic(path.name + "_ping"), rclcpp::SensorDataQoS());
      path.pongs = create_subscription<Int32>(
          topic(path.name + "_pong"), rclcpp::SensorDataQoS(), [&path, this](const Int32& pong) {
            const auto index = static_cast<std::size_t>(pong.data);
            if (index >= sent_.size()) {
              return;  // not ours
            }
            const Seconds round_trip = Clock::now() - sent_[index];
            path.round_trips.push_back(round_trip.count());
          });
    }
  }

  void start() {
    timer_ = create_wall_timer(period_, [this] {
      Int32 ping;
      ping.data = static_cast<std::int32_t>(sent_.size());
      sent_.push_back(Clock::now());
      for (const Path& path : paths_) {
        path.pings->publish(ping);
      }
    });
  }

  void print_statistics(Seconds duration) const {
    const auto configured = static_cast<std::size_t>(duration / period_);
    RCLCPP_INFO(get_logger(), "Both paths: Sent out %zu of configured %zu pings, i.e. %d%%.",
                sent_.size(), configured, percent(sent_.size(), configured));
    for (const Path& path : paths_) {
      const std::vector<double>& times = path.round_trips;
      RCLCPP_INFO(get_logger(), "%s prio path: Received %zu pongs, i.e. for %d%% of the pings.",
                  path.title.c_str(), times.size(), percent(times.size(), sent_.size()));
      if (times.empty()) {
        continue;
      }
      const auto count = static_cast<double>(times.size());
      const double mean = std::accumulate(times.begin(), times.end(), 0.0) / count;
      const double squares = std::accumulate(
          times.begin(), times.end(), 0.0,
          [&](double sum, double each) { return sum + (each - mean) * (each - mean); });
      RCLCPP_INFO(get_logger(), "%s prio path: Average RTT is %.1fms.", path.title.c_str(),
                  mean * 1e3);
      RCLCPP_INFO(get_logger(), "%s prio path: Jitter of RTT is %.3fms.", path.title.c_str(),
                  std::sqrt(squares / count) * 1e3);
    }
  }

 private:
  struct Path {
    std::string title;
    std::string name;
    rclcpp::Publisher<Int32>::SharedPtr pings = nullptr;
    rclcpp::Subscription<Int32>::SharedPtr pongs = nullptr;
    std::vector<double> round_trips = {};  // seconds
  };

  const Seconds period_;
  std::array<Path, 2> paths_{Path{"High", "high"}, Path{"Low", "low"}};
  std::vector<Clock::time_point> sent_;  // all callbacks of this node are in its default group
  rclcpp::TimerBase::SharedPtr timer_;
};

/// Answers each ping after some work. The two paths have a callback group each.
class PongNode : public rclcpp::Node {
 public:
  PongNode() : Node("pong_node"), high_(*this, "high"), low_(*this, "low") {}

  rclcpp::CallbackGroup::SharedPtr high_group() const { return high_.group; }
  rclcpp::CallbackGroup::SharedPtr low_group() const { return low_.group; }

  void print_statistics() const {
    RCLCPP_INFO(get_logger(), "High priority callbacks ran for %.0fms.", high_.cpu_time * 1e3);
    RCLCPP_INFO(get_logger(), "Low priority callbacks ran for %.0fms.", low_.cpu_time * 1e3);
  }

 private:
  struct Path {
    Path(rclcpp::Node& node, const std::string& name)
        : work(rclrt_rclcpp::detail::declare_seconds(node, name + "_busyloop", 0.01)),
          group(node.create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive)),
          pongs(node.create_publisher<Int32>(topic(name + "_pong"), rclcpp::SensorDataQoS())) {
      rclcpp::SubscriptionOptions options;
      options.callback_group = group;
      pings = node.create_subscription<Int32>(
          topic(name + "_ping"), rclcpp::SensorDataQoS(),
          [this](const Int32& ping) { answer(ping); }, options);
    }

    void answer(const Int32& ping) {
      const Seconds start = cpu_time_of_thread();
      while (cpu_time_of_thread() - start < work) {
      }
      pongs->publish(ping);
      cpu_time = cpu_time + (cpu_time_of_thread() - start).count();
    }

    const Seconds work;
    const rclcpp::CallbackGroup::SharedPtr group;
    const rclcpp::Publisher<Int32>::SharedPtr pongs;
    rclcpp::Subscription<Int32>::SharedPtr pings;
    std::atomic<double> cpu_time{0};  // written by one callback at a time, read at the end
  };

  Path high_;
  Path low_;
};

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  std::shared_ptr<PingNode> ping;
  std::shared_ptr<PongNode> pong;
  Seconds duration{};
  try {
    ping = std::make_shared<PingNode>();
    pong = std::make_shared<PongNode>();
    duration = rclrt_rclcpp::detail::declare_seconds(*ping, "duration", 10.0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ping_pong: %s\n", error.what());
    return 2;
  }
  rclrt_rclcpp::Options options;
  options.engine.cpus = {0};
  rclrt_rclcpp::PreemptiveExecutor executor(options);
  executor.add_node(ping);
  executor.add_node(pong);
  executor.set_priority(ping, 2);
  executor.set_priority(pong->high_group(), 2);
  executor.set_priority(pong->low_group(), 1);
  std::thread spinning([&] { executor.spin(); });

  ping->start();  // before the message: after Ctrl-C no timer can be created
  const auto end = Clock::now() + duration;
  RCLCPP_INFO(pong->get_logger(), "Running experiment from now on for %g seconds ...",
              duration.count());
  while (rclcpp::ok() && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  executor.cancel();
  spinning.join();
  ping->print_statistics(duration);
  pong->print_statistics();
  rclcpp::shutdown();
}
