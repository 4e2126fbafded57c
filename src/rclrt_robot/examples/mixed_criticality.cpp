// SPDX-License-Identifier: Apache-2.0
// A control loop at 1 kHz, a subscription chain at 50 Hz and work without a deadline on one CPU. At
// the end it prints how late the control loop's releases were, and how many were lost.
//
//   mixed_criticality                     under rclrt's executor, with priorities
//   mixed_criticality --single-threaded   the same node under rclcpp's SingleThreadedExecutor
//   mixed_criticality --record DIR [--application FILE]
//                                         with results for `rclrt report`; mixed_criticality.yaml,
//                                         beside this file, describes its chains
//
// Callbacks of different urgency are in different callback groups, because members of one exclusive
// group wait for each other, whatever their priorities.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/int64.hpp>
#include <string>
#include <thread>

#include "rclrt/realtime/histogram.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt_rclcpp/detail/seconds_parameter.hpp"
#include "rclrt_rclcpp/executors.hpp"
#include "rclrt_robot/recording.hpp"

namespace {

using namespace std::chrono_literals;
using std_msgs::msg::Int64;

void work_for(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

class Robot : public rclcpp::Node {
 public:
  Robot() : Node("robot") {
    control_group = own_group();
    chain_group = own_group();
    control_ = create_wall_timer(
        kPeriod, [this](const rclcpp::TimerInfo& info) { control(info); }, control_group);
    scans_ = create_publisher<Int64>("scan", 10);
    sensor_ = create_wall_timer(20ms, [this] { scans_->publish(Int64()); }, chain_group);
    rclcpp::SubscriptionOptions options;
    options.callback_group = chain_group;
    filter_ = create_subscription<Int64>("scan", 10, [](const Int64&) { work_for(2ms); }, options);
    burner_ = create_wall_timer(20ms, [] { work_for(10ms); });  // in the node's default group
  }

  void print() const {
    const rclrt::realtime::Histogram late(late_ns_);
    std::printf(
        "control: %llu releases, %lld lost; late by p50 %.3f ms, p99 %.3f ms, max %.3f ms\n",
        static_cast<unsigned long long>(late.count()), static_cast<long long>(lost_),
        ms(late.percentile(50)), ms(late.percentile(99)), ms(late.max()));
  }

  rclcpp::CallbackGroup::SharedPtr control_group;
  rclcpp::CallbackGroup::SharedPtr chain_group;

 private:
  static constexpr std::chrono::milliseconds kPeriod{1};

  static double ms(std::int64_t time_ns) { return static_cast<double>(time_ns) / 1e6; }

  rclcpp::CallbackGroup::SharedPtr own_group() {
    return create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  }

  /// rcl skips the releases for which it is too late: they appear as gaps.
  void control(const rclcpp::TimerInfo& info) {
    const std::int64_t expected_ns = info.expected_call_time.nanoseconds();
    late_ns_.record_alone(info.actual_call_time.nanoseconds() - expected_ns);
    if (last_ns_ != 0) {
      lost_ += (expected_ns - last_ns_) / std::chrono::nanoseconds(kPeriod).count() - 1;
    }
    last_ns_ = expected_ns;
    work_for(100us);
  }

  rclrt::realtime::Histogram late_ns_;
  std::int64_t lost_ = 0;
  std::int64_t last_ns_ = 0;
  rclcpp::Publisher<Int64>::SharedPtr scans_;
  rclcpp::Subscription<Int64>::SharedPtr filter_;
  rclcpp::TimerBase::SharedPtr control_;
  rclcpp::TimerBase::SharedPtr sensor_;
  rclcpp::TimerBase::SharedPtr burner_;
};

/// Spins until the time is over, or Ctrl-C.
void spin_for(rclcpp::Executor& executor, std::chrono::duration<double> time,
              const rclrt::realtime::Scheduling& scheduling) {
  std::thread watch([&] {
    const auto end = std::chrono::steady_clock::now() + time;
    while (rclcpp::ok() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(10ms);
    }
    rclcpp::shutdown();
  });
  rclrt::realtime::apply_scheduling(0, scheduling);
  executor.spin();
  watch.join();
}

/// Returns the scheduling of rclrt's most urgent thread, so that only the executor differs.
rclrt::realtime::Scheduling urgent(int cpu) {
  rclrt::realtime::Scheduling scheduling;
  scheduling.cpus = {cpu};
  if (!rclrt::realtime::why_no_realtime(94)) {
    scheduling.policy = rclrt::realtime::Policy::kFifo;
    scheduling.priority = 94;
  }
  return scheduling;
}

int usage() {
  std::fprintf(
      stderr, "usage: mixed_criticality [--single-threaded | --record DIR [--application FILE]]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = rclcpp::init_and_remove_ros_arguments(argc, argv);
  bool single_threaded = false;
  rclrt_robot::RecordingOptions record;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--single-threaded") {
      single_threaded = true;
    } else if (arguments[i] == "--record" && i + 1 < arguments.size()) {
      record.directory = arguments[++i];
    } else if (arguments[i] == "--application" && i + 1 < arguments.size()) {
      record.application = arguments[++i];
    } else {
      return usage();
    }
  }
  if (record.directory.empty() ? !record.application.empty() : single_threaded) {
    return usage();
  }
  const auto robot = std::make_shared<Robot>();
  std::chrono::duration<double> time{};
  try {
    time = rclrt_rclcpp::detail::declare_seconds(*robot, "duration", 10.0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mixed_criticality: %s\n", error.what());
    return 2;
  }
  const int cpu = rclrt::realtime::allowed_cpus().front();
  if (single_threaded) {
    rclcpp::executors::SingleThreadedExecutor executor;
    executor.add_node(robot);
    spin_for(executor, time, urgent(cpu));
  } else {
    rclrt_rclcpp::Options options;
    options.engine.cpus = {cpu};
    std::shared_ptr<rclrt_robot::Recording> recording;
    if (!record.directory.empty()) {
      try {
        recording = std::make_shared<rclrt_robot::Recording>(record);
        options.recording = recording;
      } catch (const std::exception& error) {
        std::fprintf(stderr, "mixed_criticality: %s\n", error.what());
        return 2;
      }
    }
    rclrt_rclcpp::PreemptiveExecutor executor(options);
    executor.add_node(robot);
    executor.set_priority(robot->control_group, 2);
    executor.set_priority(robot->chain_group, 1);  // the burner keeps priority 0
    spin_for(executor, time, {});
    if (recording) {
      for (const std::string& line : recording->write()) {
        std::fprintf(stderr, "%s\n", line.c_str());
      }
    }
  }
  robot->print();
}
