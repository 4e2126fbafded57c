// SPDX-License-Identifier: Apache-2.0
// The nodes of examples/eye_to_wheel on rclcpp. Their messages are of type M: with a stamp, which
// is the time of the image, or without one.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <geometry_msgs/msg/point_stamped.hpp>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/float64.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/stamp.hpp"
#include "rclrt_rclcpp/sampling.hpp"

namespace eye_to_wheel {

using geometry_msgs::msg::PointStamped;
using rclrt_rclcpp::Origin;
using rclrt_rclcpp::Sample;
using std_msgs::msg::Float64;
namespace model = rclrt::model;

inline double value_of(const Float64& message) { return message.data; }
inline double value_of(const PointStamped& message) { return message.point.x; }

/// Returns a message with the origin of its data as its stamp, if its type has one.
template <typename M>
M message_from(const Origin& origin) {
  M message;
  if constexpr (rclrt::realtime::Stamped<M>) {
    message.header.stamp = rclcpp::Time(
        origin.since_ns - rclrt::realtime::monotonic_less_realtime_ns(), RCL_SYSTEM_TIME);
  }
  return message;
}

/// Returns the origin of the data of the message that the calling callback has taken.
template <typename M>
Origin origin_of(const M& message) {
  if constexpr (rclrt::realtime::Stamped<M>) {
    return {rclrt::realtime::stamp_ns(message) + rclrt::realtime::monotonic_less_realtime_ns(),
            true};
  } else {
    return rclrt_rclcpp::current_origin();
  }
}

/// Returns the options of the publisher and of the subscription of images. Under an executor that
/// follows messages without a stamp, they have to go through the middleware.
template <typename M, typename Options>
Options for_images(Options options) {
  options.use_intra_process_comm = rclrt::realtime::Stamped<M>
                                       ? rclcpp::IntraProcessSetting::Enable
                                       : rclcpp::IntraProcessSetting::NodeDefault;
  return options;
}

/// The callbacks of the application.
class Callbacks {
 public:
  explicit Callbacks(model::Application application) : application_(std::move(application)) {}

  const model::Callback& operator[](std::string_view id) const {
    const auto found = std::ranges::find(application_.callbacks, id, &model::Callback::id);
    if (found == application_.callbacks.end()) {
      throw std::invalid_argument("the application has no callback \"" + std::string(id) +
                                  "\"; take examples/eye_to_wheel/app.yaml");
    }
    return *found;
  }
  /// Uses the CPU as long as the callback does at most.
  void work(std::string_view id) const {
    const std::int64_t end_ns = rclrt::realtime::thread_cpu_now_ns() + (*this)[id].wcet.count();
    while (rclrt::realtime::thread_cpu_now_ns() < end_ns) {
    }
  }
  const std::vector<int>& cpus() const { return application_.executors.front().cpus; }
  std::chrono::nanoseconds period(std::string_view id) const {
    return std::get<model::Timer>((*this)[id].trigger).period;
  }

 private:
  model::Application application_;
};

/// A node of which each callback excludes only itself, as in the application.
class RobotNode : public rclcpp::Node {
 public:
  RobotNode(const std::string& name, const Callbacks& callbacks)
      : Node(name), callbacks_(callbacks) {}

 protected:
  rclcpp::CallbackGroup::SharedPtr own_group() {
    return groups_.emplace_back(
        create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive));
  }
  rclcpp::SubscriptionOptions in_own_group() {
    rclcpp::SubscriptionOptions options;
    options.callback_group = own_group();
    return options;
  }
  void work(std::string_view id) const { callbacks_.work(id); }

 private:
  const Callbacks& callbacks_;
  std::vector<rclcpp::CallbackGroup::SharedPtr> groups_;
};

template <typename M>
class Camera final : public RobotNode {
 public:
  explicit Camera(const Callbacks& callbacks) : RobotNode("camera", callbacks) {}

 private:
  rclcpp::Publisher<M>::SharedPtr frames_ = create_publisher<M>("frames", 10);
  rclcpp::Publisher<M>::SharedPtr obstacles_ = create_publisher<M>("obstacles", 10);
  rclcpp::Subscription<PointStamped>::SharedPtr image_ = create_subscription<PointStamped>(
      "images", 10,
      [this](const PointStamped& image) {
        work("image");
        frames_->publish(message_from<M>(origin_of(image)));
      },
      for_images<M>(in_own_group()));
  rclcpp::Subscription<M>::SharedPtr detect_ = create_subscription<M>(
      "frames", 10,
      [this](const M& frame) {
        work("detect");
        obstacles_->publish(message_from<M>(origin_of(frame)));
      },
      in_own_group());
};

template <typename M>
class Planner final : public RobotNode {
 public:
  explicit Planner(const Callbacks& callbacks) : RobotNode("planner", callbacks) {
    const auto seen = rclrt_rclcpp::create_sampled_subscription<M>(
        *this, "obstacles", 10,
        [this](const M& message) {
          work("see");
          return value_of(message);
        },
        in_own_group());
    plan = rclrt_rclcpp::create_sampling_timer(
        *this, callbacks.period("plan"), seen,
        [this](const Sample<double>& obstacle) {
          work("plan");
          if (obstacle.is_stored()) {  // otherwise the chain would begin at this timer
            path_->publish(message_from<M>(obstacle.origin));
          }
        },
        own_group());
    seen_ = seen.subscription;
  }

  rclcpp::TimerBase::SharedPtr plan;

 private:
  rclcpp::Publisher<M>::SharedPtr path_ = create_publisher<M>("path", 10);
  rclcpp::SubscriptionBase::SharedPtr seen_;
};

/// The ages of the data at the wheel.
class Ages {
 public:
  Ages() { commands_.reserve(1'000'000); }

  void add(const Origin& origin) {
    if (origin.is_whole && commands_.size() < commands_.capacity()) {
      const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns();
      commands_.push_back({now_ns, now_ns - origin.since_ns});
    } else {
      ++unknown_;  // for about a second for each node of the chain, until the monitor follows it
    }
  }

  /// Writes a line for each command. Throws std::runtime_error.
  void write(const std::string& path, std::int64_t epoch_ns) const {
    std::ofstream file(path);
    file << "end_ns,age_ns\n";
    for (const Command& each : commands_) {
      file << each.end_ns - epoch_ns << ',' << each.age_ns << '\n';
    }
    if (!file.flush()) {
      throw std::runtime_error("cannot write " + path);
    }
  }

  void print() const {
    std::vector<std::int64_t> ages_ns;
    for (const Command& each : commands_) {
      ages_ns.push_back(each.age_ns);
    }
    std::ranges::sort(ages_ns);
    const auto ms = [&](std::size_t percent) {
      return static_cast<double>(ages_ns[(ages_ns.size() - 1) * percent / 100]) / 1e6;
    };
    std::printf("commands to the wheel: %zu", ages_ns.size());
    if (!ages_ns.empty()) {
      std::printf(", age of their data best %.3f ms, median %.3f ms, p99 %.3f ms, worst %.3f ms",
                  ms(0), ms(50), ms(99), ms(100));
    }
    std::printf("; %zu of unknown origin\n", unknown_);
  }

 private:
  struct Command {
    std::int64_t end_ns;
    std::int64_t age_ns;
  };
  std::vector<Command> commands_;
  std::size_t unknown_ = 0;
};

template <typename M>
class Controller final : public RobotNode {
 public:
  Controller(const Callbacks& callbacks, Ages& ages)
      : RobotNode("controller", callbacks), ages_(ages) {
    const auto followed = rclrt_rclcpp::create_sampled_subscription<M>(
        *this, "path", 10,
        [this](const M& message) {
          work("follow");
          return value_of(message);
        },
        in_own_group());
    control = rclrt_rclcpp::create_sampling_timer(
        *this, callbacks.period("control"), followed,
        [this](const Sample<double>& path) {
          work("control");
          if (path.is_stored()) {
            command_->publish(message_from<M>(path.origin));
          }
        },
        own_group());
    followed_ = followed.subscription;
    actuate_ = create_subscription<M>(
        "command", 10,
        [this](const M& command) {
          work("actuate");
          ages_.add(origin_of(command));
        },
        in_own_group());
  }

  rclcpp::TimerBase::SharedPtr control;

 private:
  Ages& ages_;
  rclcpp::Publisher<M>::SharedPtr command_ = create_publisher<M>("command", 10);
  rclcpp::SubscriptionBase::SharedPtr followed_;
  rclcpp::SubscriptionBase::SharedPtr actuate_;
};

}  // namespace eye_to_wheel
