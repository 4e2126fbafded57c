// SPDX-License-Identifier: Apache-2.0
// Durations as people write them: longer than 292 years in nanoseconds, negative, floating-point.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <limits>
#include <std_msgs/msg/int64.hpp>
#include <std_srvs/srv/trigger.hpp>
#include <stdexcept>
#include <test_msgs/action/fibonacci.hpp>
#include <thread>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;
using std_msgs::msg::Int64;
using std_srvs::srv::Trigger;
using test_msgs::action::Fibonacci;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Durations : public ::testing::Test {
 protected:
  std::shared_ptr<Context> context = make_context();
  Node node{context, "durations"};
};

TEST_F(Durations, OfTimersBeyondTheEndOfTheClockMeanNever) {
  const auto fail = [] { FAIL() << "a timer ran that never should"; };
  const std::vector<std::shared_ptr<Timer>> never = {
      node.create_wall_timer(milliseconds::max(), fail),
      node.create_wall_timer(hours::max(), fail),
      node.create_wall_timer(hours(5'124'096), fail),  // 2^64 ns and 0.55 s
      node.create_wall_timer(std::chrono::years(600), fail),
      node.create_wall_timer(std::chrono::duration<double>(1e30), fail),
      node.create_wall_timer(1ms, fail, {}, {.offset = std::chrono::minutes::max()}),
      node.create_wall_timer(1ms, fail, {}, {.offset = hours(2'562'048)})};
  PreemptiveExecutor executor(context);
  int ticks = 0;
  const auto timer = node.create_wall_timer(std::chrono::duration<double>(0.002),
                                            [&] {
                                              if (++ticks == 5) {
                                                executor.cancel();
                                              }
                                            },
                                            {.deadline = hours::max()});
  EXPECT_EQ(timer->timer().period_ns, 2'000'000);
  EXPECT_EQ(timer->deadline_ns(), INT64_MAX);
  executor.add_node(node);
  executor.spin();
  EXPECT_GE(ticks, 5);
  for (const auto& each : never) {
    EXPECT_EQ(each->counters().released, 0U);
  }
}

TEST_F(Durations, OfTimersThatAreNoneAreRefused) {
  const auto nothing = [] {};
  EXPECT_THAT([&] { node.create_wall_timer(hours::min(), nothing); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("period must be positive, not -9223372036854775808 ns")));
  EXPECT_THAT(
      [&] { node.create_wall_timer(-1ns, nothing); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("period must be positive, not -1 ns")));
  EXPECT_THAT([&] { node.create_wall_timer(std::chrono::duration<double>(1e-12), nothing); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("period must be positive, not 0 ns")));
  EXPECT_THAT(
      [&] {
        node.create_wall_timer(
            std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()), nothing);
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("a duration is not a number (NaN)")));
  EXPECT_THAT([&] { node.create_wall_timer(1ms, nothing, {.deadline = hours::min()}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(
                  "the deadline is a duration after the release and must not be negative")));
}

TEST_F(Durations, OfQualityOfServiceBeyondTheEndOfTheClockAreInfinite) {
  const auto is_infinite = [](const rmw_time_t& time) {
    const rmw_time_t infinite = RMW_DURATION_INFINITE;
    return time.sec == infinite.sec && time.nsec == infinite.nsec;
  };
  EXPECT_TRUE(is_infinite(QoS(1).deadline(milliseconds::max()).rmw().deadline));
  EXPECT_TRUE(is_infinite(QoS(1).lifespan(hours::max()).rmw().lifespan));
  EXPECT_TRUE(is_infinite(
      QoS(1).liveliness_automatic(std::chrono::years::max()).rmw().liveliness_lease_duration));
  EXPECT_TRUE(
      is_infinite(QoS(1).liveliness_by_topic(nanoseconds::max()).rmw().liveliness_lease_duration));
  EXPECT_THAT([&] { QoS(1).deadline(hours::min()); },
              ThrowsMessage<std::invalid_argument>(
                  "QoS: a deadline, lifespan or lease must not be negative"));
  const auto publisher = node.create_publisher<Int64>("topic", QoS(1).lifespan(hours::max()));
  EXPECT_TRUE(publisher->publish(Int64{}));
}

TEST_F(Durations, OfASynchronisersWindowMayBeAnyButNegative) {
  EXPECT_THAT([&] { (SyncBuffer<int, int>(1, SyncPolicy::kApproximate, -1)); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("a synchroniser's window must not be negative, not -1 ns")));
  EXPECT_EQ(SyncOptions{.window = hours::max()}.window, nanoseconds::max());
  SyncBuffer<int, int> all(1, SyncPolicy::kApproximate, INT64_MAX);
  int message = 0;
  all.add<0>(message, INT64_MIN);
  EXPECT_FALSE(all.add<1>(message, INT64_MAX));  // 2^64 - 1 apart
  all.add<0>(message, 0);
  EXPECT_TRUE(all.add<1>(message, INT64_MAX));
}

/// Checks that a wait without end, in each notation, finds an entity that comes later.
template <typename Wait>
void expect_each_to_find(const std::function<std::shared_ptr<void>()>& make, const Wait& wait) {
  const auto find = [&](auto timeout) {
    std::shared_ptr<void> made;
    std::promise<void> waits;
    std::thread later([&] {
      waits.get_future().wait();
      std::this_thread::sleep_for(5ms);  // the wait has most likely begun
      made = make();
    });
    waits.set_value();
    EXPECT_TRUE(wait(timeout));
    later.join();
  };
  find(hours::max());
  find(-1ns);
  find(-1s);  // nanoseconds(seconds::max()) overflows to this before rclrt sees it
}

TEST_F(Durations, OfWaitsForAServiceWithoutEndDoNotEndAtOnce) {
  const auto client = node.create_client<Trigger>("late");
  expect_each_to_find(
      [&] { return node.create_service<Trigger>("late", [](const auto&, auto&) {}); },
      [&](auto timeout) { return client->wait_for_service(timeout); });
  EXPECT_FALSE(node.create_client<Trigger>("never")->wait_for_service(0ms));
}

TEST_F(Durations, OfWaitsForEndpointsAndActionServersWithoutEndDoNotEndAtOnce) {
  expect_each_to_find([&] { return node.create_publisher<Int64>("late", 1); },
                      [&](auto timeout) { return node.wait_for_publishers("late", 1, timeout); });
  const auto actions = create_action_client<Fibonacci>(node, "late");
  const auto server = create_action_server<Fibonacci>(
      node, "late", {.handle_goal = {}, .handle_cancel = {}, .handle_accepted = [](auto) {}}, {},
      hours::max());
  EXPECT_TRUE(actions->wait_for_action_server(hours::max()));
  EXPECT_TRUE(actions->wait_for_action_server(-5ms));
}

TEST_F(Durations, OfSpinsWithoutEndDoNotEndAtOnce) {
  std::promise<void> ran;
  const auto timer = node.create_wall_timer(2ms, [&, done = false]() mutable {
    if (!std::exchange(done, true)) {
      ran.set_value();
    }
  });
  PreemptiveExecutor executor(context);
  executor.add_node(node);
  EXPECT_TRUE(executor.spin_once(hours::max()));
  EXPECT_EQ(executor.spin_until_future_complete(ran.get_future().share(), milliseconds::max()),
            SpinResult::kComplete);
}

TEST(GoalResults, WithoutATimeoutAreKeptForEver) {
  detail::GoalTable goals;
  const GoalUUID id{1};
  ASSERT_TRUE(goals.accept(id, 1));
  ASSERT_TRUE(goals.advance(id, GOAL_EVENT_EXECUTE, 1));
  ASSERT_TRUE(goals.advance(id, GOAL_EVENT_SUCCEED, 2));
  EXPECT_TRUE(goals.expire(INT64_MAX, -1).empty());
  EXPECT_TRUE(goals.expire(INT64_MAX, INT64_MAX).empty());
  EXPECT_EQ(goals.expire(3, 1).size(), 1U);
}

}  // namespace
}  // namespace rclrt::test
