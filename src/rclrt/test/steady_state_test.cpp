// SPDX-License-Identifier: Apache-2.0
// Static mode: after the warm-up, the whole path of a message under `preemptive` allocates nothing
// and takes no lock without priority inheritance, except inside the middleware.
#include <gtest/gtest.h>

#include <atomic>
#include <std_msgs/msg/int64.hpp>
#include <std_msgs/msg/string.hpp>

#include "rclrt/realtime/process.hpp"
#include "ros_fixture.hpp"
#include "watch.hpp"

namespace rclrt::test {
namespace {

using realtime::RtGuard;
using realtime::RtReport;
using std_msgs::msg::Int64;
using std_msgs::msg::String;

/// The reports of the two threads of a path: the worker that publishes and the one that receives.
struct Path {
  RtReport publishing;
  RtReport receiving;
};

/// Publishes from a timer at priority 0 to a subscription at priority 1. Each priority has one
/// worker, with and without permission for real time.
template <typename T, typename Publish>
Path run_path(const CallbackOptions& receiver, const Publish& publish) {
  const auto context = make_context();
  Node node(context, "node");
  const auto publisher = node.create_publisher<T>("topic", 10);
  PreemptiveExecutor executor(context, {.name = "steady",
                                        .cpus = {realtime::allowed_cpus().front()},
                                        .preemption = executor::Preemption::kAlways,
                                        .workers_per_level = 1});
  Watch publishing;
  Watch receiving;
  const auto timer = node.create_wall_timer(std::chrono::microseconds(100), [&] {
    publish(*publisher);
    publishing();
  });
  const auto subscription = node.create_subscription<T>(
      "topic", 10,
      [&](const T& /*message*/) {
        if (receiving()) {
          executor.cancel();
        }
      },
      receiver);
  EXPECT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  executor.add_node(node);
  executor.spin();
  return {publishing.report(), receiving.report()};
}

class StaticMode : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* const reason = RtGuard::blind()) {
      GTEST_SKIP() << reason;
    }
    // As every real-time process does: loads pages of shared libraries before they are used.
    static_cast<void>(realtime::lock_memory());
  }
};

void expect_clean(const Path& path) {
  EXPECT_TRUE(path.publishing.clean()) << path.publishing.text();
  EXPECT_TRUE(path.receiving.clean()) << path.receiving.text();
}

TEST_F(StaticMode, ReadingAScalarParameterTakesNothingFromTheHeapAndNoLock) {
  Node node(make_context(), "node");
  const auto gain = node.declare_parameter("gain", 0.5);
  const auto count = node.declare_parameter("count", 2);
  const auto flag = node.declare_parameter("flag", true);
  EXPECT_TRUE(
      flag.get());  // without the permission to lock memory, its page comes with the first use
  RtGuard guard({.action = realtime::RtGuardAction::kCount, .free_locks = true});
  const double sum = flag.get() ? gain.get() + static_cast<double>(count.get()) : 0;
  const RtReport report = guard.report();
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(sum, 2.5);
}

TEST_F(StaticMode, AMessageThatIsLentAndHandedOverTakesNothingFromTheHeapAndNoForeignLock) {
  expect_clean(run_path<Int64>({.priority = 1, .intra_process = true}, [](Publisher<Int64>& to) {
    auto loan = to.borrow();
    EXPECT_TRUE(loan);
    loan->data = 1;
    EXPECT_TRUE(to.publish(std::move(loan)));
  }));
}

TEST_F(StaticMode, AMessageOfKnownSizeThatIsCopiedAndHandedOverTakesNothingFromTheHeap) {
  String message;
  message.data.assign(1000, 'x');
  expect_clean(run_path<String>({.priority = 1, .intra_process = true},
                                [&](Publisher<String>& to) { EXPECT_TRUE(to.publish(message)); }));
}

TEST_F(StaticMode, StoringAValueAndSamplingItTakeNothingFromTheHeapAndNoForeignLock) {
  const auto context = make_context();
  Node node(context, "node");
  const auto publisher = node.create_publisher<Int64>("topic", 10);
  PreemptiveExecutor executor(context, {.name = "steady",
                                        .cpus = {realtime::allowed_cpus().front()},
                                        .preemption = executor::Preemption::kAlways,
                                        .workers_per_level = 1});
  const auto source = node.create_wall_timer(std::chrono::microseconds(100), [&] {
    auto loan = publisher->borrow();
    EXPECT_TRUE(loan);
    publisher->publish(std::move(loan));
  });
  Watch storing;
  Watch sampling;
  std::atomic<bool> stored{false};
  const auto sampled = create_sampled_subscription<Int64>(node, "topic", 10,
                                                          [&](const Int64& message) {
                                                            stored = storing();
                                                            return message.data;
                                                          },
                                                          {.priority = 1, .intra_process = true});
  const auto timer = create_sampling_timer(node, std::chrono::microseconds(100), sampled,
                                           [&](const Sample<std::int64_t>& sample) {
                                             static_cast<void>(sample.age_ns());
                                             if (sampling() && stored) {
                                               executor.cancel();
                                             }
                                           },
                                           {.priority = 2});
  executor.add_node(node);
  executor.spin();
  expect_clean({storing.report(), sampling.report()});
}

/// A subscription that no executor runs.
class TakenByHand final : public Subscription<Int64> {
 public:
  explicit TakenByHand(const Node& node) : Subscription(node.handle(), "bare", 10, {}) {}
  bool take_now() {
    Int64 message;
    InstanceInfo info;
    return take(&message, info);
  }

 protected:
  executor::Outcome run(InstanceInfo& /*info*/) override { return executor::Outcome::kEmpty; }
};

/// Returns the allocations of the middleware for as many messages without an executor. `waiting`
/// messages always wait: a reader that is not empty allocates less (Fast DDS) or more (Cyclone
/// DDS).
std::uint64_t bare_middleware_allocations(int waiting) {
  const auto context = make_context();
  Node node(context, "node");
  TakenByHand subscription(node);
  const auto publisher = node.create_publisher<Int64>("bare", 10);
  EXPECT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  for (int i = 0; i < waiting; ++i) {
    EXPECT_TRUE(publisher->publish(Int64{}));
  }
  Watch watch;
  bool ended = false;
  while (!ended) {
    EXPECT_TRUE(publisher->publish(Int64{}));
    EXPECT_TRUE(subscription.take_now());
    ended = watch();
  }
  return watch.report().allocations;
}

TEST_F(StaticMode, ThroughTheMiddlewareNothingIsAllocatedButByTheMiddleware) {
  const std::uint64_t bare =
      std::max(bare_middleware_allocations(0), bare_middleware_allocations(1));
  const Path path = run_path<Int64>({.priority = 1},
                                    [](Publisher<Int64>& to) { EXPECT_TRUE(to.publish(Int64{})); });
  // On Jazzy, Fast DDS makes one for each message published and two for each taken, Cyclone DDS two
  // for each published.
  EXPECT_GE(bare, 2 * kMessages);  // the guard sees them
  EXPECT_LE(path.publishing.allocations + path.receiving.allocations, bare)
      << path.publishing.text() << path.receiving.text();
}

}  // namespace
}  // namespace rclrt::test
