// SPDX-License-Identifier: Apache-2.0
// The first messages of a real-time executor cause no page fault, from the timer's callback through
// the middleware to the subscription's.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <std_msgs/msg/string.hpp>
#include <string>
#include <vector>

#include "rclrt/realtime/process.hpp"
#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using std_msgs::msg::String;

long faults_of_thread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

/// The page faults of each of the first publications, including the middleware's listener and the
/// storage of the reader, and those between the first callbacks of the subscription, with one
/// `take` each.
struct Faults {
  std::vector<long> publishing;
  std::vector<long> taking;
};

/// Publishes `bytes` from a timer at priority 0 to a subscription at priority 1 until 20 have come.
Faults first_messages(std::size_t bytes, std::size_t prefault) {
  constexpr std::size_t kMessages = 20;
  const auto context = make_context();
  Node node(context, "node");
  Faults faults;
  faults.publishing.reserve(10 * kMessages);
  faults.taking.reserve(10 * kMessages);
  const auto publisher = node.create_publisher<String>("topic", 10);
  PreemptiveExecutor executor(context, {.name = "first",
                                        .cpus = {realtime::allowed_cpus().front()},
                                        .workers_per_level = 1,
                                        .prefault = prefault});
  String message;
  message.data.assign(bytes, 'x');
  node.create_wall_timer(std::chrono::milliseconds(1), [&] {
    const long before = faults_of_thread();
    publisher->publish(message);
    faults.publishing.push_back(faults_of_thread() - before);
  });
  long seen = 0;
  node.create_subscription<String>(
      "topic", 10,
      [&](const String& /*message*/) {
        const long now = faults_of_thread();
        // The count before the first message belongs to the thread's start, which has touched the
        // memory.
        faults.taking.push_back(faults.taking.empty() ? 0 : now - seen);
        seen = now;
        if (faults.taking.size() >= kMessages) {
          executor.cancel();
        }
      },
      {.priority = 1});
  EXPECT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  executor.add_node(node);
  executor.prepare();
  executor.spin();
  return faults;
}

long sum(const std::vector<long>& values) {
  long result = 0;
  for (const long value : values) {
    result += value;
  }
  return result;
}

TEST(FirstMessages, OfKnownSizeMeetNoPageFault) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's build has an allocator of its own";
#endif
  if (const auto reason = realtime::why_no_realtime(95)) {
    GTEST_SKIP() << *reason;
  }
  // 11 messages in the histories of either side, and some in use.
  constexpr std::size_t kBytes = 100'000;
  const Faults faults = first_messages(kBytes, 30 * kBytes);
  // The first message alone has 24 pages. They were page faults before memory was touched: not in
  // the heap of the worker, but in the heap of the thread that made the publisher, where the
  // middleware enlarges its buffer. A few pages of data may be written for the first time.
  EXPECT_LE(sum(faults.publishing), 6);
  EXPECT_LE(sum(faults.taking), 6);
}

}  // namespace
}  // namespace rclrt::test
