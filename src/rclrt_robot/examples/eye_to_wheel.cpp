// SPDX-License-Identifier: Apache-2.0
// The robot of examples/eye_to_wheel as nodes of rclcpp: a camera, a planner and a controller that
// sample. At the end it prints how old the data of the camera were at the wheel.
//
//   eye_to_wheel APP.YAML ROBOT.YAML      -p duration:=SECONDS
//
// Periods, execution times and the times of the images are those of the first file, so that the
// ages are comparable with those of `rclrt run` and `rclrt simulate`. The second file has the
// priorities, the largest age and the monitor, which reports the age on /diagnostics.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <geometry_msgs/msg/point_stamped.hpp>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/float64.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "rclrt/model/event_times.hpp"
#include "rclrt/model/parse.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/stamp.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt_rclcpp/detail/seconds_parameter.hpp"
#include "rclrt_rclcpp/sampling.hpp"
#include "rclrt_robot/robot.hpp"

namespace {

using namespace std::chrono_literals;
using geometry_msgs::msg::PointStamped;
using rclrt_rclcpp::Sample;
using std_msgs::msg::Float64;
namespace model = rclrt::model;

double value_of(const Float64& message) { return message.data; }

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

class Camera final : public RobotNode {
 public:
  explicit Camera(const Callbacks& callbacks) : RobotNode("camera", callbacks) {}

 private:
  rclcpp::Publisher<Float64>::SharedPtr frames_ = create_publisher<Float64>("frames", 10);
  rclcpp::Publisher<Float64>::SharedPtr obstacles_ = create_publisher<Float64>("obstacles", 10);
  rclcpp::Subscription<PointStamped>::SharedPtr image_ = create_subscription<PointStamped>(
      "images", 10,
      [this](const PointStamped&) {
        work("image");
        frames_->publish(Float64());
      },
      in_own_group());
  rclcpp::Subscription<Float64>::SharedPtr detect_ = create_subscription<Float64>(
      "frames", 10,
      [this](const Float64&) {
        work("detect");
        obstacles_->publish(Float64());
      },
      in_own_group());
};

class Planner final : public RobotNode {
 public:
  explicit Planner(const Callbacks& callbacks) : RobotNode("planner", callbacks) {
    const auto seen = rclrt_rclcpp::create_sampled_subscription<Float64>(
        *this, "obstacles", 10,
        [this](const Float64& message) {
          work("see");
          return value_of(message);
        },
        in_own_group());
    plan = rclrt_rclcpp::create_sampling_timer(
        *this, callbacks.period("plan"), seen,
        [this](const Sample<double>& obstacle) {
          work("plan");
          if (obstacle.is_stored()) {  // otherwise the chain would begin at this timer
            path_->publish(Float64());
          }
        },
        own_group());
    seen_ = seen.subscription;
  }

  rclcpp::TimerBase::SharedPtr plan;

 private:
  rclcpp::Publisher<Float64>::SharedPtr path_ = create_publisher<Float64>("path", 10);
  rclcpp::SubscriptionBase::SharedPtr seen_;
};

class Controller final : public RobotNode {
 public:
  explicit Controller(const Callbacks& callbacks) : RobotNode("controller", callbacks) {
    const auto followed = rclrt_rclcpp::create_sampled_subscription<Float64>(
        *this, "path", 10,
        [this](const Float64& message) {
          work("follow");
          return value_of(message);
        },
        in_own_group());
    control = rclrt_rclcpp::create_sampling_timer(
        *this, callbacks.period("control"), followed,
        [this](const Sample<double>& path) {
          work("control");
          if (path.is_stored()) {
            command_->publish(Float64());
          }
        },
        own_group());
    followed_ = followed.subscription;
    actuate_ = create_subscription<Float64>(
        "command", 10,
        [this](const Float64&) {
          work("actuate");
          count_age();
        },
        in_own_group());
    ages_ns_.reserve(1'000'000);
  }

  void print() {
    std::ranges::sort(ages_ns_);
    const auto ms = [this](std::size_t percent) {
      return static_cast<double>(ages_ns_[(ages_ns_.size() - 1) * percent / 100]) / 1e6;
    };
    std::printf("commands to the wheel: %zu", ages_ns_.size());
    if (!ages_ns_.empty()) {
      std::printf(", age of their data best %.3f ms, median %.3f ms, p99 %.3f ms, worst %.3f ms",
                  ms(0), ms(50), ms(99), ms(100));
    }
    std::printf("; %zu of unknown origin\n", unknown_);
  }

  rclcpp::TimerBase::SharedPtr control;

 private:
  void count_age() {
    const rclrt_rclcpp::Origin origin = rclrt_rclcpp::current_origin();
    if (origin.is_whole && ages_ns_.size() < ages_ns_.capacity()) {
      ages_ns_.push_back(rclrt::realtime::monotonic_now_ns() - origin.since_ns);
    } else {
      ++unknown_;  // for about a second for each node of the chain, until the monitor follows it
    }
  }

  rclcpp::Publisher<Float64>::SharedPtr command_ = create_publisher<Float64>("command", 10);
  rclcpp::SubscriptionBase::SharedPtr followed_;
  rclcpp::SubscriptionBase::SharedPtr actuate_;
  std::vector<std::int64_t> ages_ns_;
  std::size_t unknown_ = 0;
};

/// The driver of the camera: publishes a stamp at the times of the application's event.
class Driver {
 public:
  Driver(rclcpp::Node& node, const model::Callback& image, std::int64_t epoch_ns)
      : images_(node.create_publisher<PointStamped>("images", 10)),
        thread_({.name = "driver", .scheduling = scheduling()},
                [this, image, epoch_ns](const rclrt::realtime::StopFlag& stop) {
                  run(image, epoch_ns, stop);
                }) {}

 private:
  static rclrt::realtime::Scheduling scheduling() {
    constexpr int kPriority = 97;  // above the executor and the middleware
    return rclrt::realtime::why_no_realtime(kPriority)
               ? rclrt::realtime::Scheduling()
               : rclrt::realtime::Scheduling{.policy = rclrt::realtime::Policy::kFifo,
                                             .priority = kPriority};
  }

  void run(const model::Callback& image, std::int64_t epoch_ns,
           const rclrt::realtime::StopFlag& stop) {
    model::EventTimes times(std::get<model::Event>(image.trigger), image.id);
    for (;;) {
      const std::int64_t at_ns = epoch_ns + times.next().count();
      if (stop.wait_until(at_ns)) {
        return;
      }
      PointStamped message;
      message.header.stamp =
          rclcpp::Time(at_ns - rclrt::realtime::monotonic_less_realtime_ns(), RCL_SYSTEM_TIME);
      images_->publish(message);
    }
  }

  rclcpp::Publisher<PointStamped>::SharedPtr images_;
  rclrt::realtime::Thread thread_;  // ends first
};

/// Starts the timer's period at `epoch_ns` or whole periods before. rcl has no offsets: a reset
/// begins a period, so this waits for the right time, and repeats it if the thread was delayed. It
/// needs a period for each try, and a second is enough for many.
void align(rclcpp::TimerBase& timer, std::chrono::nanoseconds period, std::int64_t epoch_ns) {
  constexpr std::int64_t kClose_ns = 50'000;
  constexpr std::int64_t kWakesUpWithin_ns = 300'000;
  std::int64_t late_ns = 0;
  do {
    const std::int64_t left_ns = epoch_ns - rclrt::realtime::monotonic_now_ns();
    if (left_ns < period.count()) {
      throw std::runtime_error("the machine is too busy to start the timers together");
    }
    const std::int64_t at_ns = epoch_ns - (left_ns - 1) / period.count() * period.count();
    std::this_thread::sleep_for(
        std::chrono::nanoseconds(at_ns - kWakesUpWithin_ns - rclrt::realtime::monotonic_now_ns()));
    while (rclrt::realtime::monotonic_now_ns() < at_ns) {
    }
    timer.reset();
    const std::int64_t next_ns =
        rclrt::realtime::monotonic_now_ns() + timer.time_until_trigger().count();
    late_ns = next_ns - at_ns - period.count();
  } while (late_ns > kClose_ns);
}

void run(const std::string& application, const std::string& robot_file,
         std::chrono::duration<double> time) {
  const Callbacks callbacks(model::load_application(application));
  rclrt_robot::Robot robot(rclrt_robot::load_robot(robot_file));
  const auto camera = std::make_shared<Camera>(callbacks);
  const auto planner = std::make_shared<Planner>(callbacks);
  const auto controller = std::make_shared<Controller>(callbacks);
  for (const rclcpp::Node::SharedPtr& node :
       {rclcpp::Node::SharedPtr(camera), rclcpp::Node::SharedPtr(planner),
        rclcpp::Node::SharedPtr(controller)}) {
    robot.executor().add_node(node);
  }
  const std::int64_t epoch_ns = rclrt::realtime::monotonic_now_ns() + 2'000'000'000;
  align(*planner->plan, callbacks.period("plan"), epoch_ns);
  align(*controller->control, callbacks.period("control"), epoch_ns);
  {
    const Driver driver(*camera, callbacks["image"], epoch_ns);
    const std::jthread watch([&] {
      const auto end = std::chrono::steady_clock::now() + time;
      while (rclcpp::ok() && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(10ms);
      }
      rclcpp::shutdown();
    });
    robot.spin();
  }
  controller->print();
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = rclcpp::init_and_remove_ros_arguments(argc, argv);
  if (arguments.size() != 3) {
    std::fprintf(stderr,
                 "usage: eye_to_wheel APP.YAML ROBOT.YAML [--ros-args -p duration:=SECONDS]\n");
    return 2;
  }
  try {
    rclcpp::Node options("eye_to_wheel");
    run(arguments[1], arguments[2],
        rclrt_rclcpp::detail::declare_seconds(options, "duration", 60.0));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "eye_to_wheel: %s\n", error.what());
    return 2;
  }
  return 0;
}
