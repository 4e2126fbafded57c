// SPDX-License-Identifier: Apache-2.0
// Deadlines that count from the stamps of messages.
#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <geometry_msgs/msg/point_stamped.hpp>
#include <limits>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "folder.hpp"
#include "rclrt_rclcpp/executors.hpp"

namespace rclrt_rclcpp::test {
namespace {

using geometry_msgs::msg::PointStamped;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Records every instance of subscriptions.
class Records final : public engine::InstanceSink {
 public:
  void record(const engine::InstanceRecord& record) noexcept override {
    if (record.callback->type() == engine::EntityType::kSubscription &&
        record.callback->deadline_ns() > 0) {
      const std::scoped_lock lock(mutex_);
      infos_.push_back(record.info);
    }
  }
  std::vector<engine::InstanceInfo> infos() {
    const std::scoped_lock lock(mutex_);
    return infos_;
  }

 private:
  std::mutex mutex_;  // guards infos_
  std::vector<engine::InstanceInfo> infos_;
};

class MessageAgeTest : public Ros {
 protected:
  Options options() {
    Options options = on_one_cpu();
    options.engine.sink = &records_;
    return options;
  }

  static CallbackInfo subscription_of(Executor& executor) {
    for (const CallbackInfo& each : executor.callbacks()) {
      if (each.max_age.count() > 0) {
        return each;
      }
    }
    ADD_FAILURE() << "no callback has a max_age";
    return {};
  }

  /// Publishes `message` until `times` of them have been received.
  void publish(Executor& executor, const std::function<PointStamped()>& make, std::uint64_t times) {
    const Spinning spinning(executor);
    ASSERT_TRUE(eventually([&] { return publisher_->get_subscription_count() > 0; }));
    for (std::uint64_t i = 0; i < times; ++i) {
      publisher_->publish(make());
      ASSERT_TRUE(eventually([&] { return received_ > i; }));
    }
  }

  PointStamped stamped(std::chrono::nanoseconds age) const {
    PointStamped message;
    message.header.stamp = node_->now() - rclcpp::Duration(age);
    return message;
  }

  Records records_;
  const rclcpp::Node::SharedPtr node_ = std::make_shared<rclcpp::Node>("node");
  const rclcpp::Publisher<PointStamped>::SharedPtr publisher_ =
      node_->create_publisher<PointStamped>("points", 10);
  std::atomic<std::uint64_t> received_{0};
  const rclcpp::Subscription<PointStamped>::SharedPtr subscription_ =
      node_->create_subscription<PointStamped>("points", 10,
                                               [this](const PointStamped&) { ++received_; });
};

TEST_F(MessageAgeTest, CountsFromTheStamp) {
  PreemptiveExecutor executor(options());
  executor.set_timing(subscription_, {.max_age = 90s});
  executor.add_node(node_);
  publish(executor, [this] { return stamped(30s); }, 3);
  EXPECT_EQ(subscription_of(executor).counters.missed, 0U);
  EXPECT_EQ(subscription_of(executor).max_age, 90s);
  EXPECT_EQ(subscription_of(executor).deadline, 0ns);
  for (const engine::InstanceInfo& each : records_.infos()) {
    EXPECT_GE(each.release_ns - each.since_ns, std::chrono::nanoseconds(27s).count());
    EXPECT_LT(each.release_ns - each.since_ns, std::chrono::nanoseconds(60s).count());
    EXPECT_EQ(each.release_ns, each.ready_ns) << "the response of the callback is what it was";
  }
  received_ = 0;
  publish(executor, [this] { return stamped(120s); }, 3);
  EXPECT_EQ(subscription_of(executor).counters.missed, 3U);
  EXPECT_EQ(subscription_of(executor).unstamped, 0U);
}

TEST_F(MessageAgeTest, AStampThatCannotBeCountsFromThePublicationAndIsTold) {
  PreemptiveExecutor executor(options());
  executor.set_timing(subscription_, {.max_age = 90s});
  executor.add_node(node_);
  publish(executor, [] { return PointStamped(); }, 1);
  received_ = 0;
  publish(executor, [this] { return stamped(-30s); }, 1);
  received_ = 0;
  publish(  // simulated time
      executor,
      [] {
        PointStamped message;
        message.header.stamp.sec = 1000;
        return message;
      },
      1);
  EXPECT_EQ(subscription_of(executor).unstamped, 3U);
  EXPECT_EQ(subscription_of(executor).counters.missed, 0U);
  EXPECT_EQ(records_.infos().size(), 3U);
}

TEST_F(MessageAgeTest, TheOlderTheLater) {
  PreemptiveExecutor executor(options());
  executor.set_timing(subscription_, {.max_age = 90s});
  executor.add_node(node_);
  publish(executor, [this] { return stamped(24h * 100); }, 2);
  EXPECT_EQ(subscription_of(executor).unstamped, 0U);
  EXPECT_EQ(subscription_of(executor).counters.missed, 2U);
}

/// The clocks of two machines may differ a little.
TEST_F(MessageAgeTest, AStampOfAClockThatIsAheadIsNoAge) {
  PreemptiveExecutor executor(options());
  executor.set_timing(subscription_, {.max_age = 90s});
  executor.add_node(node_);
  // The limit of one second for such a stamp is far away, because the message takes its time, too.
  publish(executor, [this] { return stamped(-1ms); }, 1);
  EXPECT_EQ(subscription_of(executor).unstamped, 0U);
  const engine::InstanceInfo info = records_.infos().front();
  EXPECT_LE(info.since_ns, info.start_ns);
}

TEST_F(MessageAgeTest, StampsOfAnyValueAreReadWithoutOverflow) {
  PreemptiveExecutor executor(options());
  executor.set_timing(subscription_, {.max_age = 90s});
  executor.add_node(node_);
  for (const std::int32_t sec :
       {std::numeric_limits<std::int32_t>::min(), -1, std::numeric_limits<std::int32_t>::max()}) {
    received_ = 0;
    publish(
        executor,
        [sec] {
          PointStamped message;
          message.header.stamp.sec = sec;
          message.header.stamp.nanosec = std::numeric_limits<std::uint32_t>::max();
          return message;
        },
        1);
  }
  EXPECT_EQ(subscription_of(executor).unstamped, 3U);
}

TEST_F(MessageAgeTest, ATypeWithoutAHeaderCountsFromItsPublication) {
  // Published long before there is a subscription to take it.
  const auto qos = rclcpp::QoS(1).transient_local();
  const auto publisher = node_->create_publisher<Message>("plain", qos);
  publisher->publish(Message());
  std::this_thread::sleep_for(200ms);
  const auto node = std::make_shared<rclcpp::Node>("other");
  const auto subscription = node->create_subscription<Message>("plain", qos, [](const Message&) {});
  PreemptiveExecutor executor(options());
  executor.set_timing(subscription, {.max_age = 100ms});
  executor.add_node(node);
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return !records_.infos().empty(); }));
  EXPECT_EQ(subscription_of(executor).counters.missed, 1U);
  EXPECT_EQ(subscription_of(executor).unstamped, 0U);
  EXPECT_EQ(subscription_of(executor).from_publication, 1U);
}

TEST_F(MessageAgeTest, ReadsTheStampOfSerializedMessages) {
  const auto node = std::make_shared<rclcpp::Node>("other");
  std::atomic<int> received{0};
  const auto subscription = node->create_generic_subscription(
      "points", "geometry_msgs/msg/PointStamped", 10,
      [&](const std::shared_ptr<const rclcpp::SerializedMessage>&) { ++received; });
  PreemptiveExecutor executor(options());
  executor.set_timing(subscription, {.max_age = 90s});
  executor.add_node(node);
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return publisher_->get_subscription_count() > 1; }));
  publisher_->publish(stamped(120s));
  publisher_->publish(stamped(30s));
  ASSERT_TRUE(eventually([&] { return records_.infos().size() == 2; }));
  EXPECT_EQ(subscription_of(executor).counters.missed, 1U);
  EXPECT_EQ(subscription_of(executor).unstamped, 0U);
}

TEST_F(MessageAgeTest, WithinTheProcessATypeWithoutAHeaderMissesNothing) {
  const auto node =
      std::make_shared<rclcpp::Node>("other", rclcpp::NodeOptions().use_intra_process_comms(true));
  std::atomic<int> received{0};
  const auto subscription =
      node->create_subscription<Message>("inside", 10, [&](const Message&) { ++received; });
  const auto publisher = node->create_publisher<Message>("inside", 10);
  PreemptiveExecutor executor(options());
  executor.set_timing(subscription, {.max_age = 1h});
  executor.add_node(node);
  const Spinning spinning(executor);
  publisher->publish(Message());
  ASSERT_TRUE(eventually([&] { return received == 1; }));
  for (const CallbackInfo& each : executor.callbacks()) {
    EXPECT_EQ(each.unstamped, 0U);
  }
}

TEST_F(MessageAgeTest, WithinTheProcessThereIsNoStampAndThatIsTold) {
  const auto node =
      std::make_shared<rclcpp::Node>("other", rclcpp::NodeOptions().use_intra_process_comms(true));
  std::atomic<int> received{0};
  const auto subscription = node->create_subscription<PointStamped>(
      "inside", 10, [&](const PointStamped&) { ++received; });
  const auto publisher = node->create_publisher<PointStamped>("inside", 10);
  PreemptiveExecutor executor(options());
  executor.set_timing(subscription, {.max_age = 90s});
  executor.add_node(node);
  const Spinning spinning(executor);
  publisher->publish(stamped(120s));
  ASSERT_TRUE(eventually([&] { return received == 1; }));
  ASSERT_TRUE(eventually([&] { return !records_.infos().empty(); }));
  std::uint64_t unstamped = 0;
  std::uint64_t missed = 0;
  for (const CallbackInfo& each : executor.callbacks()) {
    unstamped += each.unstamped;
    missed += each.counters.missed;
  }
  EXPECT_EQ(unstamped, 1U);
  EXPECT_EQ(missed, 0U);
}

/// The message that announced the instance was replaced by another one, which the instance takes.
/// Its arrival is known in another clock: if the thread was off the CPU between two readings for
/// half of the time between the messages, the test repeats with twice that time.
TEST_F(MessageAgeTest, OfAMessageThatReplacedAnotherItsOwnArrivalCounts) {
  const auto node = std::make_shared<rclcpp::Node>("other");
  std::atomic<bool> holds{true};
  std::atomic<bool> held{false};
  const auto subscription =
      node->create_subscription<PointStamped>("points", 1, [](const PointStamped&) {});
  const auto hold = node->create_wall_timer(1ms, [&] {  // in the group of the subscription
    while (holds) {
      held = true;
      std::this_thread::sleep_for(1ms);
    }
  });
  PreemptiveExecutor executor(options());
  executor.set_timing(subscription, {.max_age = 1h});
  executor.add_node(node);
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return publisher_->get_subscription_count() > 1; }));
  bool is_its_own = false;
  for (auto between = 300ms; !is_its_own && between < 1min; between *= 2) {
    holds = true;
    held = false;
    ASSERT_TRUE(eventually([&] { return held.load(); }));
    const std::size_t earlier = records_.infos().size();
    publisher_->publish(stamped(30s));
    std::this_thread::sleep_for(between);  // tells the arrivals apart
    const std::int64_t before_ns = rclrt::realtime::monotonic_now_ns();
    publisher_->publish(stamped(0ns));  // delivered when it returns, because it is the same process
    holds = false;
    ASSERT_TRUE(eventually([&] { return records_.infos().size() > earlier; }));
    ASSERT_TRUE(eventually([&] { return subscription_of(executor).counters.pending() == 0; }));
    const engine::InstanceInfo info = records_.infos().at(earlier);
    const std::int64_t least_ns = before_ns - std::chrono::nanoseconds(between).count() / 2;
    is_its_own = info.since_ns > least_ns && info.ready_ns > least_ns;
    EXPECT_LE(info.since_ns, info.start_ns);
    EXPECT_LE(info.ready_ns, info.start_ns);
  }
  EXPECT_TRUE(is_its_own) << "it counts from the first one";
  EXPECT_EQ(subscription_of(executor).unstamped, 0U);
}

TEST_F(MessageAgeTest, IsRefusedWhereItHasNoMeaning) {
  PreemptiveExecutor executor;
  const Timing age{.max_age = 1s};
  const auto is_refused = ThrowsMessage<std::invalid_argument>(
      HasSubstr("only a subscription or a timer can have a max_age"));
  EXPECT_THAT([&] { executor.set_timing(node_, age); }, is_refused);
  const auto group = node_->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  EXPECT_THAT([&] { executor.set_timing(group, age); }, is_refused);
  EXPECT_THAT([&] { executor.set_timing(subscription_, {.max_age = 0s}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("max_age must be positive")));
  EXPECT_THAT(
      [&] { executor.set_timing(subscription_, {.deadline = 1s, .max_age = 1s}); },
      ThrowsMessage<std::invalid_argument>(HasSubstr(
          "state a deadline (from a message's arrival) or a max_age (from its stamp), not both")));
}

TEST_F(MessageAgeTest, TakesThePlaceOfADeadlineAndTheOtherWayRound) {
  PreemptiveExecutor executor(options());
  executor.set_timing(node_, {.deadline = 1h});
  executor.set_timing(subscription_, {.max_age = 90s});
  executor.add_node(node_);
  EXPECT_EQ(subscription_of(executor).deadline, 0ns);
  publish(executor, [this] { return stamped(120s); }, 1);
  EXPECT_EQ(subscription_of(executor).counters.missed, 1U);
  executor.set_timing(subscription_, {.deadline = 2h});
  for (const CallbackInfo& each : executor.callbacks()) {
    EXPECT_EQ(each.max_age, 0ns);
    EXPECT_EQ(each.deadline, each.name == "/points" ? 2h : 1h) << each.kind << each.name;
  }
  received_ = 0;
  publish(executor, [this] { return stamped(120s); }, 1);
  for (const CallbackInfo& each : executor.callbacks()) {
    EXPECT_EQ(each.counters.missed, 0U) << each.kind << each.name;
  }
}

TEST_F(MessageAgeTest, UnderEdfItIsADeadlineFromTheArrival) {
  EdfExecutor executor(on_one_cpu());
  std::vector<std::string> order;
  const auto node = std::make_shared<rclcpp::Node>("other");
  const auto aged = node->create_subscription<PointStamped>(
      "points", 10, [&](const PointStamped&) { order.emplace_back("aged"); });
  const auto plain = node->create_subscription<PointStamped>(
      "points", 10, [&](const PointStamped&) { order.emplace_back("plain"); });
  executor.set_timing(aged, {.max_age = 1h});  // with 10 minutes left
  executor.set_timing(plain, {.deadline = 90s});
  executor.add_node(node);
  ASSERT_TRUE(eventually([&] { return publisher_->get_subscription_count() == 3; }));
  publisher_->publish(stamped(150s));
  ASSERT_TRUE(eventually([&] {  // both wait
    std::uint64_t released = 0;
    for (const CallbackInfo& each : executor.callbacks()) {
      released += each.name == "/points" ? each.counters.released : 0;
    }
    return released == 2;
  }));
  executor.spin_some();
  EXPECT_EQ(order, (std::vector<std::string>{"plain", "aged"}));
}

TEST_F(MessageAgeTest, ComesFromAFileAndIsWrittenThere) {
  const Folder folder;
  Options with_file = options();
  with_file.priorities =
      folder.write("timing.yaml",
                   "rclrt: 1\ncallbacks:\n"
                   "  - {node: /node, subscription: /points, max_age_ms: 2500}\n");
  PreemptiveExecutor executor(with_file);
  executor.add_node(node_);
  EXPECT_EQ(subscription_of(executor).max_age, 2500ms);
  std::ostringstream written;
  executor.write_priorities(written);
  EXPECT_NE(written.str().find("subscription: /points, priority: 0, max_age_ms: 2500.000000}"),
            std::string::npos)
      << written.str();
  Options again = options();
  again.priorities = folder.write("again.yaml", written.str());
  executor.remove_node(node_);
  PreemptiveExecutor other(again);
  other.add_node(node_);
  EXPECT_EQ(subscription_of(other).max_age, 2500ms);
}

TEST_F(MessageAgeTest, ResponsesAreMeasuredOnDemand) {
  Options measured = options();
  measured.measure_responses = true;
  PreemptiveExecutor executor(measured);
  executor.set_timing(subscription_, {.max_age = 90s});
  executor.add_node(node_);
  publish(executor, [this] { return stamped(30s); }, 2);
  const auto responses = subscription_of(executor).response_us;
  ASSERT_NE(responses, nullptr);
  EXPECT_EQ(responses->count(), 2U);
  EXPECT_GE(responses->min(), std::chrono::microseconds(27s).count());
  PreemptiveExecutor not_measured(options());
  executor.remove_node(node_);
  not_measured.set_timing(subscription_, {.max_age = 90s});
  not_measured.add_node(node_);
  EXPECT_EQ(subscription_of(not_measured).response_us, nullptr);
}

}  // namespace
}  // namespace rclrt_rclcpp::test
