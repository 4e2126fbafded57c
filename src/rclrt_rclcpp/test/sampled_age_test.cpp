// SPDX-License-Identifier: Apache-2.0
// Deadlines of timers that count from the data that they sample.
#include <gtest/gtest.h>

#include <atomic>
#include <geometry_msgs/msg/point_stamped.hpp>
#include <mutex>
#include <vector>

#include "fixture.hpp"
#include "rclrt_rclcpp/executors.hpp"
#include "rclrt_rclcpp/miss_details.hpp"
#include "rclrt_rclcpp/sampling.hpp"

namespace rclrt_rclcpp::test {
namespace {

using geometry_msgs::msg::PointStamped;

/// Keeps the instances of callbacks with a deadline, and counts those that ended late. Releases
/// that a busy machine skips are misses, too, and do not count.
class Observed final : public engine::InstanceSink, public engine::MissHandler {
 public:
  void record(const engine::InstanceRecord& record) noexcept override {
    if (record.callback->deadline_ns() > 0) {
      const std::scoped_lock lock(mutex_);
      infos_.push_back(record.info);
    }
  }
  void missed(const engine::DeadlineMiss& miss) noexcept override {
    if (miss.late_ns() > 0) {
      ++late;
      before_release_ns = details_of(miss).before_release.time_ns;
    }
  }
  std::vector<engine::InstanceInfo> infos() {
    const std::scoped_lock lock(mutex_);
    return infos_;
  }

  std::atomic<int> late{0};
  std::atomic<std::int64_t> before_release_ns{0};

 private:
  std::mutex mutex_;  // guards infos_
  std::vector<engine::InstanceInfo> infos_;
};

class SampledAgeTest : public Ros {
 protected:
  Options options() {
    Options options = on_one_cpu();
    options.engine.sink = &observed_;
    options.engine.on_miss = &observed_;
    return options;
  }

  static CallbackInfo timer_of(Executor& executor) {
    for (const CallbackInfo& each : executor.callbacks()) {
      if (each.max_age.count() > 0) {
        EXPECT_EQ(each.kind, "timer");
        return each;
      }
    }
    ADD_FAILURE() << "no callback has a max_age";
    return {};
  }

  /// Publishes a point of this age. Returns after the timer has sampled it several times.
  void sample(double x, std::chrono::nanoseconds age) {
    PointStamped message;
    message.header.stamp = node_->now() - rclcpp::Duration(age);
    message.point.x = x;
    publisher_->publish(message);
    EXPECT_TRUE(eventually([&] { return latest_ == x; }));
    const int before = runs_;
    EXPECT_TRUE(eventually([&] { return runs_ >= before + 3; }));
  }

  Observed observed_;
  const rclcpp::Node::SharedPtr node_ = std::make_shared<rclcpp::Node>("node");
  const rclcpp::Publisher<PointStamped>::SharedPtr publisher_ =
      node_->create_publisher<PointStamped>("points", 10);
  const SampledSubscription<double> points_ = create_sampled_subscription<PointStamped>(
      *node_, "points", 10, [](const PointStamped& point) { return point.point.x; });
  std::atomic<double> latest_{0};
  std::atomic<int> runs_{0};
  const rclcpp::TimerBase::SharedPtr timer_ =
      create_sampling_timer(*node_, 5ms, points_, [this](const Sample<double>& point) {
        latest_ = point.value;
        ++runs_;
      });
};

TEST_F(SampledAgeTest, CountsFromTheStampOfTheDataThatTheTimerSamples) {
  PreemptiveExecutor executor(options());
  executor.set_timing(timer_, {.max_age = 90s});
  executor.add_node(node_);
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return runs_ >= 3 && publisher_->get_subscription_count() > 0; }));
  EXPECT_EQ(observed_.infos().front().since_ns, 0) << "it has sampled nothing";

  sample(1, 30s);
  EXPECT_EQ(observed_.late, 0);

  sample(2, 120s);
  EXPECT_GE(observed_.late, 2);
  EXPECT_GE(timer_of(executor).counters.missed, 2U);
  EXPECT_GE(observed_.before_release_ns, std::chrono::nanoseconds(117s).count());
  const engine::InstanceInfo last = observed_.infos().back();
  EXPECT_GE(last.release_ns - last.since_ns, std::chrono::nanoseconds(117s).count());
  EXPECT_EQ(timer_of(executor).from_publication, 0U);

  sample(3, 0min);
  const int late = observed_.late;
  sample(4, 0min);
  EXPECT_EQ(observed_.late, late) << "young data have replaced the old ones";
}

}  // namespace
}  // namespace rclrt_rclcpp::test
