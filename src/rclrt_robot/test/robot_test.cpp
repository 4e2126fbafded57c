// SPDX-License-Identifier: Apache-2.0
// A process under the plan of a robot.yaml: every thread, also those of libraries.
#include "rclrt_robot/robot.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "folder.hpp"
#include "log.hpp"
#include "middleware.hpp"
#include "rclcpp_fixture.hpp"
#include "rclrt/model/robot.hpp"
#ifdef RCLRT_TF2
#include <tf2_ros/buffer.h>
#include <tf2_ros/transform_listener.h>
#endif

namespace rclrt_robot::test {
namespace {

using rclrt::realtime::PlannedThread;
using rclrt::realtime::ThreadPlanReport;
using rclrt::realtime::UnplannedThread;

/// A node that starts an executor and a thread inside itself, as costmaps do.
class NodeWithAnInnerExecutor : public rclcpp::Node {
 public:
  NodeWithAnInnerExecutor() : Node("outer") {
    inner_.add_node(node_);
    thread_ = std::thread([this] { inner_.spin(); });
  }
  ~NodeWithAnInnerExecutor() override {
    inner_.cancel();
    thread_.join();
  }

 private:
  const rclcpp::Node::SharedPtr node_ = std::make_shared<rclcpp::Node>("inner");
  rclcpp::executors::SingleThreadedExecutor inner_;
  std::thread thread_;
};

/// A worker thread like those of std::async, until the end of the scope.
class Worker {
 public:
  Worker() : done_(start_worker()) {}
  ~Worker() { end_.set_value(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

 private:
  std::future<void> start_worker() {
    return std::async(std::launch::async, [until_end = end_.get_future()] { until_end.wait(); });
  }

  std::promise<void> end_;
  std::future<void> done_;
};

/// Spins a robot on its own thread until the end of the scope.
class SpinningRobot {
 public:
  explicit SpinningRobot(Robot& robot) : robot_(robot), thread_([&robot] { robot.spin(); }) {
    EXPECT_TRUE(eventually([&] { return robot.executor().is_spinning(); }));
  }
  ~SpinningRobot() {
    robot_.executor().cancel();
    thread_.join();
  }
  SpinningRobot(const SpinningRobot&) = delete;
  SpinningRobot& operator=(const SpinningRobot&) = delete;

 private:
  Robot& robot_;
  std::thread thread_;
};

std::vector<PlannedThread> threads_of(const ThreadPlanReport& report, std::size_t rule) {
  std::vector<PlannedThread> result;
  std::copy_if(report.threads.begin(), report.threads.end(), std::back_inserter(result),
               [&](const PlannedThread& each) { return each.rule == rule; });
  return result;
}

class RobotFile : public Ros {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer starts every thread by a function of its own";
#endif
  }

  RobotOptions load(const std::string& text) {
    return load_robot(folder_.write("robot.yaml", "rclrt: 1\n" + text));
  }

  /// Returns the reader's errors in a file.
  std::string error_of(const std::string& text) {
    try {
      load(text);
    } catch (const std::runtime_error& error) {
      const std::string what = error.what();
      return what.substr(what.find("robot.yaml:"));
    }
    return "no error";
  }

  Folder folder_;
};

/// Returns a plan of four kinds of threads, each with its own nice value or priority.
std::string threads(bool is_realtime) {
  std::string text = "threads:\n";
  int number = 3;
  for (const char* const chosen : {"name: middleware", "function: \"*tf2_ros::TransformListener*\"",
                                   "function: \"*NodeWithAnInnerExecutor*\"",
                                   "library: robot_test, function: \"*Worker::start_worker*\""}) {
    const std::string policy = is_realtime ? "fifo, priority: " : "other, nice: ";
    text +=
        "  - {" + std::string(chosen) + ", policy: " + policy + std::to_string(number++) + "}\n";
  }
  return text;
}

rclrt::realtime::Scheduling planned(bool is_realtime, std::size_t rule) {
  const int number = 3 + static_cast<int>(rule);
  return is_realtime ? rclrt::realtime::Scheduling{.policy = rclrt::realtime::Policy::kFifo,
                                                   .priority = number}
                     : rclrt::realtime::Scheduling{.nice = number};
}

// The indices of the rules.
constexpr std::size_t kMiddleware = 0;
constexpr std::size_t kTf2 = 1;
constexpr std::size_t kInner = 2;
constexpr std::size_t kAsync = 3;
#ifdef RCLRT_TF2
constexpr std::size_t kWithoutTf2 = 0;
#else
constexpr std::size_t kWithoutTf2 = 1;
#endif

TEST_F(RobotFile, LeavesCallbacksOfLittlePriorityAtNormalScheduling) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  RobotOptions options = load(
      "executor: {best_effort_below: 3}\ncallbacks:\n"
      "  - {node: /robot, group: 1, timer: 0, priority: 3}\n");
  Robot robot(std::move(options));
  const auto node = std::make_shared<rclcpp::Node>("robot");
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  const auto policy_of_this = [] { return rclrt::realtime::read_scheduling(0)->policy; };
  std::promise<rclrt::realtime::Policy> low;
  std::promise<rclrt::realtime::Policy> high;
  rclcpp::TimerBase::SharedPtr low_timer = node->create_wall_timer(1ms, [&] {
    low.set_value(policy_of_this());
    low_timer->cancel();
  });
  rclcpp::TimerBase::SharedPtr high_timer = node->create_wall_timer(
      1ms,
      [&] {
        high.set_value(policy_of_this());
        high_timer->cancel();
      },
      group);
  robot.executor().add_node(node);
  const SpinningRobot spinning(robot);
  EXPECT_EQ(low.get_future().get(), rclrt::realtime::Policy::kOther);
  EXPECT_EQ(high.get_future().get(), rclrt::realtime::Policy::kFifo);
}

/// Runs with and without real time.
class RobotPlan : public RobotFile, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(, RobotPlan, ::testing::Bool(), [](const auto& realtime) {
  return realtime.param ? "RealTime" : "Normal";
});

TEST_P(RobotPlan, HasEveryThreadOfTheProcessWhoeverStartsIt) {
  if (GetParam()) {
    RCLRT_SKIP_WITHOUT_REALTIME();
  }
  RobotOptions options = load(threads(GetParam()));
  options.thread_period = 10ms;
  Robot robot(std::move(options));
  const auto node = std::make_shared<NodeWithAnInnerExecutor>();
  robot.executor().add_node(node);
#ifdef RCLRT_TF2
  tf2_ros::Buffer buffer(node->get_clock());
  const tf2_ros::TransformListener listener(buffer);
#endif
  const Worker worker;
  const SpinningRobot spinning(robot);

  ThreadPlanReport report;
  // A thread that has just begun may not have its origin yet.
  EXPECT_TRUE(eventually([&] {
    report = robot.threads();
    return report.unused_rules.size() == kWithoutTf2 &&
           std::none_of(report.unplanned.begin(), report.unplanned.end(),
                        [](const UnplannedThread& each) { return each.origin.library.empty(); });
  }));
  for (const PlannedThread& thread : report.threads) {
    EXPECT_EQ(thread.problem, "") << thread.name;
    const auto found = rclrt::realtime::read_scheduling(thread.tid);
    const rclrt::realtime::Scheduling wanted = planned(GetParam(), thread.rule);
    EXPECT_EQ(found->policy, wanted.policy) << thread.name;
    EXPECT_EQ(found->priority, wanted.priority) << thread.name;
    EXPECT_EQ(found->nice, wanted.nice) << thread.name;
  }
  EXPECT_GE(threads_of(report, kMiddleware).size(), 2U);
  for (const PlannedThread& thread : threads_of(report, kMiddleware)) {
    EXPECT_TRUE(middleware_threads().has(thread.name)) << thread.name;
  }
  EXPECT_EQ(threads_of(report, kTf2).size(), 1U - kWithoutTf2);
  EXPECT_EQ(threads_of(report, kInner).size(), 1U);
  EXPECT_EQ(threads_of(report, kAsync).size(), 1U);
  // A thread without a rule is named, with its origin.
  EXPECT_TRUE(std::any_of(report.unplanned.begin(), report.unplanned.end(),
                          [](const UnplannedThread& each) { return each.tid == getpid(); }));
  for (const UnplannedThread& thread : report.unplanned) {
    EXPECT_NE(thread.origin.library, "") << thread.name;
  }
}

TEST_F(RobotFile, CatchesAThreadThatAppearsWhileItSpins) {
  RobotOptions options = load(threads(false));
  options.thread_period = 10ms;
  Robot robot(std::move(options));
  robot.executor().add_node(std::make_shared<rclcpp::Node>("alone"));
  const SpinningRobot spinning(robot);
  EXPECT_TRUE(threads_of(robot.threads(), kAsync).empty());
  const Worker late;
  EXPECT_TRUE(eventually([&] {
    const auto workers = threads_of(robot.threads(), kAsync);
    return workers.size() == 1 && workers.front().found.nice == 6;
  }));
}

TEST_F(RobotFile, LeavesTheEnginesThreadsToTheEngine) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  Robot robot(
      load("executor: {top_priority: 60}\ncallbacks: [{node: /alone, priority: 1}]\n"
           "threads: [{name: '*', policy: other}]\n"));
  const auto node = std::make_shared<rclcpp::Node>("alone");
  robot.executor().add_node(node);
  const SpinningRobot spinning(robot);
  const ThreadPlanReport report = robot.threads();
  for (const PlannedThread& thread : report.threads) {
    EXPECT_EQ(thread.found.policy, rclrt::realtime::Policy::kOther) << thread.name;
    EXPECT_EQ(thread.name.rfind("executor L", 0), std::string::npos) << thread.name;
  }
  const std::vector<pid_t> all = rclrt::realtime::thread_ids();
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](pid_t tid) {
    const auto found = rclrt::realtime::read_scheduling(tid);
    return found && found->policy == rclrt::realtime::Policy::kFifo && found->priority == 59;
  }));
}

TEST_F(RobotFile, StatesTheExecutorThePrioritiesAndTheRecording) {
  const RobotOptions options = load(R"(
executor: {kind: producer_consumer, realtime: off, top_priority: 50, workers_per_level: 2}
callbacks:
  - {node: /alone, timer: 0, priority: 9, deadline_ms: 5}
recording: {directory: )" + (folder_ / "out").string() +
                                    "}\n");
  EXPECT_EQ(options.executor, "producer_consumer");
  EXPECT_EQ(options.options.engine.top_priority, 50);
  EXPECT_EQ(options.options.engine.workers_per_level, 2U);
  std::atomic<int> ticks{0};
  {
    Robot robot(options);
    const auto node = std::make_shared<rclcpp::Node>("alone");
    const auto timer = node->create_wall_timer(1ms, [&] {
      if (++ticks == 20) {
        robot.executor().cancel();
      }
    });
    robot.executor().add_node(node);
    robot.spin();
    const auto callbacks = robot.executor().callbacks();
    ASSERT_FALSE(callbacks.empty());
    const auto found = std::find_if(callbacks.begin(), callbacks.end(),
                                    [](const auto& each) { return each.kind == "timer"; });
    ASSERT_NE(found, callbacks.end());
    EXPECT_EQ(found->priority, 9);
    EXPECT_EQ(found->deadline, 5ms);
    EXPECT_TRUE(robot.threads().threads.empty()) << "there is no plan";
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out" / "results.json"));
}

TEST_F(RobotFile, StatesWhatTheEngineCanBeTold) {
  const engine::ExecutorOptions told =
      load(
          "executor:\n  preemption: always\n  reservations:\n"
          "    - {priority: 9, runtime_ms: 2, deadline_ms: 5, period_ms: 10}\n")
          .options.engine;
  EXPECT_EQ(told.preemption, engine::Preemption::kAlways);
  const std::map<int, rclrt::realtime::Reservation> expected{{9, {2ms, 5ms, 10ms}}};
  EXPECT_EQ(told.reservations, expected);
  EXPECT_EQ(load("executor: {kind: thread_dispatch, scheduler_cpus: [0]}\n")
                .options.engine.scheduler_cpus,
            std::vector<int>{0});
}

TEST_F(RobotFile, IsRefusedWithThePlaceOfEachMistake) {
  EXPECT_EQ(error_of("executor: {kind: wait_set}\n"),
            "robot.yaml:2:18: kind is 'wait_set'; expected 'producer_consumer', 'thread_dispatch', "
            "'preemptive', 'edf', 'picas', 'per_group', 'static_order' or 'workshop'");
  EXPECT_EQ(error_of("threads: [{policy: other}]\n"),
            "robot.yaml:2:11: the thread has no 'name', 'library' or 'function'; expected at least "
            "one, such as 'name: control'");
}

TEST_F(RobotFile, NamesOnTheLogWhatHasNoRuleAndWhatRuleHasNoThread) {
  const Log log;
  {
    Robot robot(load("threads:\n  - {name: absent, policy: other}\n"));
    robot.executor().add_node(std::make_shared<rclcpp::Node>("alone"));
    const Worker worker;
    const SpinningRobot spinning(robot);
    EXPECT_TRUE(eventually([&] {
      return log.has(RCUTILS_LOG_SEVERITY_INFO, "no rule in the plan") &&
             log.has(RCUTILS_LOG_SEVERITY_INFO, "Async_state");
    })) << log.all();
    EXPECT_FALSE(log.has(RCUTILS_LOG_SEVERITY_WARN, "absent"));
  }
  EXPECT_TRUE(log.has(RCUTILS_LOG_SEVERITY_WARN,
                      "no thread has got its scheduling from the thread rule \"absent\"; check its "
                      "patterns and the rules before it"))
      << log.all();
}

TEST_F(RobotFile, ARealTimeThreadWithoutARuleIsAWarning) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  const Log log;
  std::promise<void> end;
  std::thread urgent([ends = end.get_future()] {
    pthread_setname_np(pthread_self(), "urgent");
    const sched_param priority{.sched_priority = 5};
    EXPECT_EQ(pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority), 0);
    ends.wait();
  });
  {
    Robot robot(load("threads:\n  - {name: absent, policy: other}\n"));
    robot.executor().add_node(std::make_shared<rclcpp::Node>("alone"));
    const SpinningRobot spinning(robot);
    EXPECT_TRUE(eventually([&] { return log.has(RCUTILS_LOG_SEVERITY_WARN, "\"urgent\""); }))
        << log.all();
  }
  end.set_value();
  urgent.join();
}

}  // namespace
}  // namespace rclrt_robot::test
