// SPDX-License-Identifier: Apache-2.0
// The middleware's threads and allocations. Each test is a row of docs/results/middlewares.md; the
// property "cell" is what the table shows.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "rclrt/realtime/rt_guard.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread_origin.hpp"
#include "rclrt/realtime/thread_plan.hpp"
#include "reader.hpp"

namespace rclrt::test {
namespace {

/// Waits until the threads have set their names, which they do when they begin to run. Those of
/// which the name stays that of the program have none.
void wait_for_names(const realtime::ThreadsBefore& before) {
  std::vector<std::string> names;
  int looks_without_change = 0;
  eventually([&] {
    std::vector<std::string> now;
    for (const pid_t tid : before.new_threads()) {
      now.push_back(realtime::thread_name(tid));
    }
    looks_without_change = now == names ? looks_without_change + 1 : 0;
    names = std::move(now);
    return looks_without_change == 50;
  });
}

/// Returns the threads that were started since `before`, by the library with their code: "9: `a`,
/// `b` of `libfoo.so`". rclrt's own are left out.
std::string started_since(const realtime::ThreadsBefore& before) {
  wait_for_names(before);
  const auto origins = realtime::thread_origins();
  std::map<std::string, std::vector<std::string>> by_library;
  std::size_t count = 0;
  for (const pid_t tid : before.new_threads()) {
    const std::string name = realtime::thread_name(tid);
    if (!name.starts_with("rclrt")) {
      const auto origin = origins.find(tid);
      by_library[origin == origins.end() ? "?" : origin->second.library].push_back(
          name == realtime::thread_name(::getpid()) ? "without a name" : "`" + name + "`");
      ++count;
    }
  }
  std::string text = std::to_string(count);
  const char* separator = ": ";
  for (auto& [library, names] : by_library) {
    std::ranges::sort(names);
    for (const std::string& name : names) {
      text += separator + name;
      separator = ", ";
    }
    text += " of `" + library + "`";
    separator = "; ";
  }
  return text;
}

class Threads : public ::testing::Test {
 protected:
  realtime::ThreadsBefore before;
};

TEST_F(Threads, OfTheContext) {
  const auto context = make_context();
  RecordProperty("cell", started_since(before));
}

TEST_F(Threads, OfTheFirstNode) {
  const auto context = make_context();
  const realtime::ThreadsBefore own;
  const Node node(context, "node");
  RecordProperty("cell", started_since(own));
}

TEST_F(Threads, OfASecondNode) {
  const auto context = make_context();
  const Node node(context, "node");
  const realtime::ThreadsBefore own;
  const Node second(context, "second");
  RecordProperty("cell", started_since(own));
}

/// Plans of threads are applied after the first node: no later thread may escape them.
TEST_F(Threads, OfTopicsAndMessages) {
  const auto context = make_context();
  Node node(context, "node");
  const realtime::ThreadsBefore own;
  Reader reader(node, "topic");
  const auto publisher = node.create_publisher<Int64>("topic", 10);
  ASSERT_TRUE(reader.matched());
  publisher->publish(Int64{});
  reader.take();
  Reader far(node, "far");
  only_peer->publish();
  far.take();
  const std::string found = started_since(own);
  EXPECT_EQ(found, "0");
  RecordProperty("cell", found);
}

class Allocations : public ::testing::Test {
 protected:
  /// Runs `work` once for each message and records the allocations after the warm-up.
  void record(const std::function<void()>& before_watch, const std::function<void()>& watched) {
    std::optional<realtime::RtGuard> guard;
    std::uint64_t allocations = 0;
    for (std::uint64_t i = 0; i < kBefore + kCounted; ++i) {
      before_watch();
      guard.emplace(realtime::RtGuardOptions{
          .action = realtime::RtGuardAction::kCount, .free_locks = true, .page_faults = false});
      watched();
      allocations += i < kBefore ? 0 : guard->report().allocations;
      guard.reset();
    }
    const double each = static_cast<double>(allocations) / static_cast<double>(kCounted);
    char text[32];
    std::snprintf(text, sizeof text, "%.2g", each);
    RecordProperty("cell", text);
  }

  static constexpr std::uint64_t kBefore = 50;  // messages that are not counted
  static constexpr std::uint64_t kCounted = 200;
  std::shared_ptr<Context> context = make_context();
  Node node{context, "node"};
  Reader reader{node, "topic"};
  std::shared_ptr<Publisher<Int64>> publisher = node.create_publisher<Int64>("topic", 10);
};

/// As on the path of a message: the reader is empty before each publish.
TEST_F(Allocations, OfAPublish) {
  ASSERT_TRUE(reader.matched());
  Int64 message;
  const auto empty_reader = [&] {
    while (rcl_take(reader.rcl(), &message, nullptr, nullptr) == RCL_RET_OK) {
    }
  };
  record(empty_reader, [&] { publisher->publish(Int64{}); });
}

TEST_F(Allocations, OfATake) {
  ASSERT_TRUE(reader.matched());
  Int64 message;
  rmw_message_info_t info = rmw_get_zero_initialized_message_info();
  record([&] { publisher->publish(Int64{}); },
         [&] { EXPECT_EQ(rcl_take(reader.rcl(), &message, &info, nullptr), RCL_RET_OK); });
}

}  // namespace
}  // namespace rclrt::test
