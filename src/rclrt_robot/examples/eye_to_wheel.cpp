// SPDX-License-Identifier: Apache-2.0
// The robot of examples/eye_to_wheel as nodes of rclcpp: a camera, a planner and a controller that
// sample. At the end it prints how old the data of the camera were at the wheel.
//
//   eye_to_wheel APP.YAML ROBOT.YAML --ros-args -p duration:=SECONDS
//     -p stamped:=true     the messages carry the stamp of the image, and images come within the
//                          process; default: the monitor follows messages without a stamp
//     -p executor:=NAME    wait_set, events: rclcpp's SingleThreadedExecutor and EventsExecutor in
//                          place of that of ROBOT.YAML, without a monitor; needs stamps.
//                          events_urgent_timers: EventsExecutor, with its thread of the timers more
//                          urgent than the one of the callbacks
//     -p ages:=FILE        writes each command's time since the begin, and the age of its data
//
// Periods, execution times and the times of the images are those of the first file, so that the
// ages are comparable with those of `rclrt run` and `rclrt simulate`. The second file has the
// priorities, the largest age and the monitor, which reports the age on /diagnostics.
#include "eye_to_wheel.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <rclcpp/rclcpp.hpp>
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
#include "rclrt/realtime/thread.hpp"
#include "rclrt_rclcpp/detail/seconds_parameter.hpp"
#include "rclrt_robot/robot.hpp"

namespace {

using namespace std::chrono_literals;
using eye_to_wheel::Ages;
using eye_to_wheel::Callbacks;
using eye_to_wheel::PointStamped;
namespace model = rclrt::model;

constexpr std::string_view kWaitSet = "wait_set";
constexpr std::string_view kUrgentTimers = "events_urgent_timers";
constexpr std::array<std::string_view, 3> kExecutors{kWaitSet, "events", kUrgentTimers};

/// The driver of the camera: publishes a stamp at the times of the application's event.
class Driver {
 public:
  Driver(rclcpp::Publisher<PointStamped>::SharedPtr images, const model::Callback& image,
         std::int64_t epoch_ns)
      : images_(std::move(images)),
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
      images_->publish(eye_to_wheel::message_from<PointStamped>({at_ns, true}));
    }
  }

  rclcpp::Publisher<PointStamped>::SharedPtr images_;
  rclrt::realtime::Thread thread_;  // ends first
};

/// Starts the timer's period at `epoch_ns` or whole periods before. rcl has no offsets: a reset
/// begins a period, so this waits for the right time, and repeats it if the thread was delayed. It
/// needs a period for each try, and a second is enough for many.
void align(rclcpp::TimerBase& timer, std::chrono::nanoseconds period, std::int64_t epoch_ns) {
  constexpr std::int64_t kClose_ns = 10'000;
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

/// The arguments of the program.
struct Task {
  std::string application;
  std::string robot;
  std::chrono::duration<double> time{};
  std::string executor;  ///< empty: that of the robot
  std::string ages;      ///< a file; empty: none
};

/// Makes the thread of the timers more urgent than that of the callbacks. EventsExecutor starts it
/// when it begins to spin, and it inherits the priority. So the spinning thread begins with a
/// higher one, and the first callback lowers it to `scheduling`. Returns the timer that does it.
rclcpp::TimerBase::SharedPtr lower_after_begin(rclcpp::Node& node,
                                               rclrt::realtime::Scheduling& scheduling) {
  auto timer = node.create_wall_timer(1ms, [lower = scheduling](rclcpp::TimerBase& self) {
    self.cancel();
    rclrt::realtime::apply_scheduling(gettid(), lower);
  });
  if (scheduling.policy == rclrt::realtime::Policy::kFifo) {
    ++scheduling.priority;
  }
  return timer;
}

/// Runs an executor of rclcpp on a thread like the one of rclrt's executors.
void spin_of_rclcpp(const Task& task, const Callbacks& callbacks,
                    const std::vector<rclcpp::Node::SharedPtr>& nodes) {
  std::unique_ptr<rclcpp::Executor> executor;
  if (task.executor == kWaitSet) {
    executor = std::make_unique<rclcpp::executors::SingleThreadedExecutor>();
  } else {
    executor = std::make_unique<rclcpp::experimental::executors::EventsExecutor>();
  }
  for (const rclcpp::Node::SharedPtr& node : nodes) {
    executor->add_node(node);
  }
  rclrt::realtime::Scheduling scheduling{.cpus = callbacks.cpus()};
  if (!rclrt::realtime::why_no_realtime(model::kTopPriority)) {
    scheduling.policy = rclrt::realtime::Policy::kFifo;
    scheduling.priority = model::kTopPriority;
  }
  const rclcpp::TimerBase::SharedPtr lowering =
      task.executor == kUrgentTimers ? lower_after_begin(*nodes.front(), scheduling) : nullptr;
  rclrt::realtime::Thread thread({.name = task.executor, .scheduling = scheduling},
                                 [&] { executor->spin(); });
  thread.join();
}

template <typename M>
void run(const Task& task) {
  const Callbacks callbacks(model::load_application(task.application));
  Ages ages;
  const bool is_ours = task.executor.empty();
  std::optional<rclrt_robot::Robot> robot;
  if (is_ours) {
    robot.emplace(rclrt_robot::load_robot(task.robot));
  }
  const auto camera = std::make_shared<eye_to_wheel::Camera<M>>(callbacks);
  const auto planner = std::make_shared<eye_to_wheel::Planner<M>>(callbacks);
  const auto controller = std::make_shared<eye_to_wheel::Controller<M>>(callbacks, ages);
  const std::vector<rclcpp::Node::SharedPtr> nodes{camera, planner, controller};
  for (const rclcpp::Node::SharedPtr& node : nodes) {
    if (is_ours) {
      robot->executor().add_node(node);
    }
  }
  const std::int64_t epoch_ns = rclrt::realtime::monotonic_now_ns() + 2'000'000'000;
  align(*planner->plan, callbacks.period("plan"), epoch_ns);
  align(*controller->control, callbacks.period("control"), epoch_ns);
  {
    const Driver driver(camera->template create_publisher<PointStamped>(
                            "images", 10, eye_to_wheel::for_images<M>(rclcpp::PublisherOptions())),
                        callbacks["image"], epoch_ns);
    const std::jthread watch([&] {
      const std::int64_t end_ns =
          epoch_ns + std::chrono::duration_cast<std::chrono::nanoseconds>(task.time).count();
      while (rclcpp::ok() && rclrt::realtime::monotonic_now_ns() < end_ns) {
        std::this_thread::sleep_for(10ms);
      }
      rclcpp::shutdown();
    });
    if (is_ours) {
      robot->spin();
    } else {
      spin_of_rclcpp(task, callbacks, nodes);
    }
  }
  ages.print();
  if (!task.ages.empty()) {
    ages.write(task.ages, epoch_ns);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = rclcpp::init_and_remove_ros_arguments(argc, argv);
  if (arguments.size() != 3) {
    std::fprintf(stderr,
                 "usage: eye_to_wheel APP.YAML ROBOT.YAML [--ros-args -p duration:=SECONDS "
                 "-p stamped:=true -p executor:=NAME -p ages:=FILE]\n");
    return 2;
  }
  try {
    rclcpp::Node options("eye_to_wheel");
    const Task task{.application = arguments[1],
                    .robot = arguments[2],
                    .time = rclrt_rclcpp::detail::declare_seconds(options, "duration", 60.0),
                    .executor = options.declare_parameter("executor", std::string()),
                    .ages = options.declare_parameter("ages", std::string())};
    const bool stamped = options.declare_parameter("stamped", false);
    if (!task.executor.empty() &&
        std::ranges::find(kExecutors, task.executor) == kExecutors.end()) {
      throw std::invalid_argument("parameter executor is '" + task.executor +
                                  "'; expected wait_set, events or events_urgent_timers, or none "
                                  "for that of " +
                                  task.robot);
    }
    if (!task.executor.empty() && !stamped) {
      throw std::invalid_argument(
          "rclcpp's executors do not know the origin of messages; expected "
          "stamped:=true beside executor:=" +
          task.executor);
    }
    stamped ? run<PointStamped>(task) : run<eye_to_wheel::Float64>(task);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "eye_to_wheel: %s\n", error.what());
    return 2;
  }
  return 0;
}
