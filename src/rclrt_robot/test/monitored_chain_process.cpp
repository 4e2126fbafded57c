// SPDX-License-Identifier: Apache-2.0
// The processes of the chain: /filter is in one, /controller in the other.
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <geometry_msgs/msg/point.hpp>
#include <geometry_msgs/msg/point_stamped.hpp>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/u_int32.hpp>
#include <string>
#include <utility>
#include <vector>

#include "monitored_chain.hpp"
#include "rclrt/executor/deadline_miss.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt_robot/robot.hpp"

namespace rclrt_robot::test {

namespace {

namespace engine = rclrt::executor;
using namespace std::chrono_literals;
using Points = geometry_msgs::msg::PointStamped;
using Filtered = geometry_msgs::msg::Point;
using Number = std_msgs::msg::UInt32;

/// Uses `time` of CPU time; delays of the thread come on top.
void burn(std::chrono::nanoseconds time) {
  const std::int64_t end_ns = rclrt::realtime::thread_cpu_now_ns() + time.count();
  while (rclrt::realtime::thread_cpu_now_ns() < end_ns) {
  }
}

/// A step of the chain: it counts its own observations of its messages' age, and the engine's
/// reports.
class Step : public rclcpp::Node, public engine::MissHandler {
  static constexpr std::int64_t kConversion_ns = 1'000'000;  // between two clocks

 public:
  Step(const std::string& name, std::chrono::nanoseconds limit, Injection blocked, Injection slow)
      : Node(name), limit_(limit), blocked_(blocked), slow_(slow) {
    inject_ = create_subscription<Number>("/inject", 10,
                                          [this](const Number& number) { inject(number.data); });
  }

  /// In one group with the injection, so that a delay of one delays the other.
  virtual rclcpp::SubscriptionBase::SharedPtr input() const = 0;
  rclcpp::SubscriptionBase::SharedPtr injection() const { return inject_; }
  std::chrono::nanoseconds limit() const { return limit_; }

  /// Called on the thread that ran `take`, after it: only the input has a limit.
  void missed(const engine::DeadlineMiss& miss) noexcept override {
    reported_ += miss.dropped + (miss.late_ns() > 0 ? 1 : 0);
    // It was not late at its own check, so it can have become late only since then.
    const bool is_invented =
        !saw_miss_ && miss.late_ns() > miss.end_ns - checked_ns_ + kConversion_ns;
    invented_ += is_invented ? 1 : 0;
  }

  void print() const {
    for (const std::uint64_t each : {runs_, missed_, reported_, invented_, unknown_}) {
      std::printf("%llu ", static_cast<unsigned long long>(each));
    }
    std::printf("\n");
    std::fflush(stdout);
  }

 protected:
  void take(const builtin_interfaces::msg::Time& stamp) {
    if (std::exchange(is_slow_, false)) {
      burn(kHeldUp);
    }
    hand_on(stamp);
    ++runs_;
    saw_miss_ = (now() - stamp).to_chrono<std::chrono::nanoseconds>() > limit_;
    const bool is_known = counts_from(stamp);
    unknown_ += is_known ? 0 : 1;
    missed_ += saw_miss_ && is_known ? 1 : 0;
    checked_ns_ = rclrt::realtime::monotonic_now_ns();
  }

 private:
  /// Returns whether the engine lets this instance count from the stamp.
  bool counts_from(const rclcpp::Time& stamp) const {
    const std::int64_t since_ns = engine::current_instance()->since_ns;
    std::int64_t least_ns = INT64_MAX;
    for (int i = 0; i < 3; ++i) {  // the thread may be delayed between the two readings
      const std::int64_t stamp_ns =
          rclrt::realtime::monotonic_now_ns() - (now() - stamp).nanoseconds();
      least_ns = std::min(least_ns, std::abs(stamp_ns - since_ns));
    }
    return least_ns < kConversion_ns;
  }

  virtual void hand_on(const builtin_interfaces::msg::Time& /*stamp*/) {}

  void inject(std::uint32_t what) {
    if (what == blocked_) {
      burn(kHeldUp);
    }
    is_slow_ = is_slow_ || (what == slow_ && slow_ != kNone);
  }

  const std::chrono::nanoseconds limit_;
  const Injection blocked_;
  const Injection slow_;
  // Accessed only by callbacks of one group, one after the other.
  bool is_slow_ = false;
  bool saw_miss_ = false;
  std::int64_t checked_ns_ = 0;
  std::uint64_t runs_ = 0;
  std::uint64_t unknown_ = 0;  // instances that do not count from the stamp
  std::uint64_t missed_ = 0;   // of the others
  std::uint64_t reported_ = 0;
  std::uint64_t invented_ = 0;
  rclcpp::Subscription<Number>::SharedPtr inject_;
};

/// Its input messages have a stamp; its output messages have none that rclrt could know of.
class Filter final : public Step {
 public:
  Filter() : Step("filter", 30ms, kFilterBlocked, kFilterSlow) {}
  rclcpp::SubscriptionBase::SharedPtr input() const override { return input_; }

 private:
  void hand_on(const builtin_interfaces::msg::Time& stamp) override {
    Filtered filtered;
    filtered.x = stamp.sec;
    filtered.y = stamp.nanosec;
    publisher_->publish(filtered);
  }

  rclcpp::Publisher<Filtered>::SharedPtr publisher_ = create_publisher<Filtered>("/filtered", 10);
  rclcpp::Subscription<Points>::SharedPtr input_ = create_subscription<Points>(
      "/points", 10, [this](const Points& points) { take(points.header.stamp); });
};

class Controller final : public Step {
 public:
  Controller() : Step("controller", 35ms, kControllerBlocked, kNone) {}
  rclcpp::SubscriptionBase::SharedPtr input() const override { return input_; }

 private:
  rclcpp::Subscription<Filtered>::SharedPtr input_ =
      create_subscription<Filtered>("/filtered", 10, [this](const Filtered& filtered) {
        builtin_interfaces::msg::Time stamp;
        stamp.sec = static_cast<std::int32_t>(filtered.x);
        stamp.nanosec = static_cast<std::uint32_t>(filtered.y);
        take(stamp);
      });
};

RobotOptions robot_options(bool is_first, Step& step) {
  RobotOptions options;
  // A callback that delays the second process must not delay the first.
  const std::vector<int> cpus = rclrt::realtime::allowed_cpus();
  options.options.engine.cpus = {is_first ? cpus.front() : cpus.back()};
  options.options.engine.top_priority = is_first ? 80 : 60;
  options.options.engine.on_miss = &step;
  options.threads = middleware_plan();
  options.monitor = MonitorOptions{.period = kMonitorPeriod, .misses = kMisses};
  return options;
}

}  // namespace

int run_process(const std::string& role) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  rclcpp::init(0, nullptr);
  const bool is_first = role == "filter";
  const std::shared_ptr<Step> step =
      is_first ? std::shared_ptr<Step>(std::make_shared<Filter>()) : std::make_shared<Controller>();
  Robot robot(robot_options(is_first, *step));
  robot.executor().set_timing(step->input(), {.priority = 5, .max_age = step->limit()});
  robot.executor().set_priority(step->injection(), 1);
  robot.executor().add_node(step);
  const auto other = std::make_shared<rclcpp::Node>("other_of_" + role);
  const auto stop = other->create_subscription<Number>(
      "/stop", rclcpp::QoS(2).transient_local(), [&](const Number& process) {
        if (process.data == (is_first ? kFilter : kController)) {
          robot.executor().cancel();
        }
      });
  robot.executor().set_priority(stop, 10);
  robot.executor().add_node(other);
  robot.spin();
  step->print();
  rclcpp::shutdown();
  return 0;
}

}  // namespace rclrt_robot::test
