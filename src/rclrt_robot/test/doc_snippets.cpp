// SPDX-License-Identifier: Apache-2.0
// The code of the pages on rclcpp, so that it compiles; doc_test.cpp compares the two.
#include <cstdint>
#include <fstream>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/float64.hpp>
#include <std_msgs/msg/int64.hpp>

#include "rclrt/executor/flight_trace.hpp"
#include "rclrt/realtime/cyclic_thread.hpp"
#include "rclrt/realtime/thread_plan.hpp"
#include "rclrt_rclcpp/executors.hpp"
#include "rclrt_rclcpp/realtime_publisher.hpp"
#include "rclrt_rclcpp/sampling.hpp"
#include "rclrt_robot/recording.hpp"
#include "rclrt_robot/robot.hpp"

namespace rclrt_robot::test {

using namespace std::chrono_literals;

void priorities(rclrt_rclcpp::Executor& executor, const rclcpp::Node::SharedPtr& node,
                const rclcpp::CallbackGroup::SharedPtr& group,
                const rclcpp::TimerBase::SharedPtr& timer) {
  executor.set_priority(node, 1);
  executor.set_priority(group, 4);
  executor.set_priority(timer, 7);
}

void timing(rclrt_rclcpp::Executor& executor, const rclcpp::TimerBase::SharedPtr& timer,
            const rclcpp::Subscription<std_msgs::msg::Int64>::SharedPtr& subscription) {
  executor.set_timing(timer, {.priority = 7, .deadline = 2ms});
  executor.set_timing(subscription,
                      {.priority = 5, .overload = rclrt::executor::Overload::kKeepLast});
}

class Control : public rclcpp::Node {
 public:
  Control();
  void step();
  rclcpp::CallbackGroup::SharedPtr control_group;
  rclcpp::TimerBase::SharedPtr control;
};

Control::Control() : Node("control") {
  control_group = create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  control = create_wall_timer(1ms, [this] { step(); }, control_group);
}

void with_a_file() {
  rclrt_rclcpp::Options options;
  options.priorities = "robot.yaml";
  rclrt_rclcpp::PreemptiveExecutor executor(options);
}

void write_a_file(rclrt_rclcpp::Executor& executor) {
  std::ofstream file("robot.yaml");
  executor.write_priorities(file);  // every callback, with what it has now
}

void with_options() {
  rclrt_rclcpp::Options options;
  options.engine.cpus = {2, 3};
  options.engine.realtime = rclrt::executor::Realtime::kRequire;  // an error that names the fix
  options.engine.top_priority = 80;  // SCHED_FIFO; the levels take those below it
}

void with_a_thread_plan(const rclcpp::Node::SharedPtr& node) {
  const rclrt::realtime::ThreadPlan plan{
      {{.scheduling = {.policy = rclrt::realtime::Policy::kFifo, .priority = 96},
        .library = "libfast*"}}};
  for (const std::string& problem : plan.apply().problems()) {
    RCLCPP_WARN(node->get_logger(), "%s", problem.c_str());  // such as: no permission, and the fix
  }
}

void with_a_robot_file(const rclcpp::Node::SharedPtr& node) {
  rclrt_robot::Robot robot(rclrt_robot::load_robot("robot.yaml"));
  robot.executor().add_node(node);
  robot.spin();
}

void with_a_loop(const rclcpp::Node::SharedPtr& node) {
  rclrt_rclcpp::RealtimePublisher<std_msgs::msg::Int64> publisher(
      node->create_publisher<std_msgs::msg::Int64>("state", 10),
      {.scheduling = {.policy = rclrt::realtime::Policy::kFifo, .priority = 30}});
  rclrt::realtime::CyclicThread loop({.period_ns = 1'000'000},
                                     [&](const rclrt::realtime::Release& release) {
                                       if (auto message = publisher.borrow()) {
                                         message->data = release.lateness_ns;
                                         message.publish();
                                       }
                                     });
  loop.start();
}

void with_a_trace() {
  rclrt::executor::FlightTrace trace;  // miss-1.pftrace, ...
  rclrt_rclcpp::Options options;
  options.engine.sink = &trace;
  options.engine.on_miss = &trace;
  rclrt_rclcpp::PreemptiveExecutor executor(options);
}

void with_a_recording(const rclcpp::Node::SharedPtr& node) {
  const auto recording = std::make_shared<rclrt_robot::Recording>(
      rclrt_robot::RecordingOptions{.directory = "out", .application = "app.yaml"});
  rclrt_rclcpp::Options options;
  options.recording = recording;  // of several executors, if they are of one kind
  rclrt_rclcpp::PreemptiveExecutor executor(options);
  executor.add_node(node);
  executor.spin();
  for (const std::string& line : recording->write()) {
    RCLCPP_WARN(node->get_logger(), "%s", line.c_str());  // what the robot has otherwise
  }
}

using Obstacles = std_msgs::msg::Float64;

class Planner : public rclcpp::Node {
 public:
  Planner();

 private:
  static double nearest(const Obstacles& obstacles);
  std_msgs::msg::Float64 plan(double obstacle, std::int64_t age_ns);

  rclcpp::Publisher<std_msgs::msg::Float64>::SharedPtr path_;
  rclrt_rclcpp::SampledSubscription<double> seen_;
  rclcpp::TimerBase::SharedPtr plan_;
};

Planner::Planner() : Node("planner") {
  seen_ = rclrt_rclcpp::create_sampled_subscription<Obstacles>(*this, "obstacles", 1, nearest);
  plan_ = rclrt_rclcpp::create_sampling_timer(
      *this, 20ms, seen_, [this](const rclrt_rclcpp::Sample<double>& obstacle) {
        path_->publish(plan(obstacle.value, obstacle.age_ns()));
      });
}

}  // namespace rclrt_robot::test
