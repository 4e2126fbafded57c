// SPDX-License-Identifier: Apache-2.0
// A robot with events that a test writes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <rclrt/model/parse.hpp>
#include <rclrt/model/write.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "traced_model.hpp"

namespace rclrt::trace {

inline constexpr std::int64_t kMs = 1'000'000;

/// Writes the events of a robot as rclcpp emits them. Small numbers serve as pointers.
class Robot {
 public:
  std::int64_t now_ns = kMs;
  std::int64_t pid = 100;
  std::int64_t tid = 100;
  std::int32_t cpu = -1;
  std::uint32_t space = 0;  // another container may have processes with the same numbers
  std::string_view thread = "main";
  std::int64_t clock_offset_ns = 0;

  void emit(EventKind kind, std::vector<std::uint64_t> numbers,
            std::vector<std::string_view> texts = {}) {
    TraceEvent event{.kind = kind,
                     .time_ns = now_ns,
                     .space = space,
                     .pid = pid,
                     .tid = tid,
                     .cpu = cpu,
                     .clock_offset_ns = clock_offset_ns,
                     .thread = thread};
    std::copy(numbers.begin(), numbers.end(), event.numbers.begin());
    std::copy(texts.begin(), texts.end(), event.texts.begin());
    system.take(event);
  }
  void node(std::uint64_t handle, std::string_view name, std::string_view name_space = "/") {
    emit(EventKind::kNodeInit, {handle}, {name, name_space});
  }
  void publisher(std::uint64_t handle, std::uint64_t node_handle, std::string_view topic) {
    emit(EventKind::kPublisherInit, {handle, node_handle, handle + 1000, 10}, {topic});
  }
  void subscription(std::uint64_t handle, std::uint64_t node_handle, std::string_view topic,
                    std::uint64_t callback) {
    emit(EventKind::kSubscriptionInit, {handle, node_handle, handle + 1000, 7}, {topic});
    emit(EventKind::kSubscriptionObject, {handle, handle + 2000});
    emit(EventKind::kSubscriptionCallback, {handle + 2000, callback});
  }
  void timer(std::uint64_t handle, std::uint64_t node_handle, std::int64_t period_ns,
             std::uint64_t callback) {
    emit(EventKind::kTimerInit, {handle, static_cast<std::uint64_t>(period_ns)});
    emit(EventKind::kTimerCallback, {handle, callback});
    emit(EventKind::kTimerNode, {handle, node_handle});
  }
  /// The node states that the publishers use what the subscriptions took.
  void link(const std::vector<std::uint64_t>& subscriptions,
            const std::vector<std::uint64_t>& publishers) {
    system.take({.kind = EventKind::kMessageLink,
                 .time_ns = now_ns,
                 .space = space,
                 .pid = pid,
                 .tid = tid,
                 .clock_offset_ns = clock_offset_ns,
                 .thread = thread,
                 .lists = {subscriptions, publishers}});
  }
  void store(std::uint64_t value, std::uint64_t number) {
    emit(EventKind::kValueStored, {value, number});
  }
  void read(std::uint64_t value, std::uint64_t number) {
    emit(EventKind::kValueRead, {value, number});
  }
  void take(std::uint64_t subscription_handle, std::uint64_t stamp) {
    emit(EventKind::kRmwTake, {subscription_handle + 1000, stamp, 1});
  }
  void stamped(std::uint64_t stamp) { emit(EventKind::kMessageStamp, {stamp}); }
  void start(std::uint64_t callback) { emit(EventKind::kCallbackStart, {callback, 0}); }
  void publish(std::uint64_t publisher_handle, std::uint64_t stamp) {
    emit(EventKind::kRmwPublish, {publisher_handle + 1000, stamp});
  }
  void end(std::uint64_t callback, std::int64_t after_ns) {
    now_ns += after_ns;
    emit(EventKind::kCallbackEnd, {callback});
  }

  TracedModel model() {
    system.finish();
    TracedModel made = build_model(system, "robot");
    const std::string yaml = model::to_yaml(made.application);
    const model::ParseResult parsed = model::parse_application(yaml);
    EXPECT_TRUE(parsed.application)
        << yaml << (parsed.diagnostics.empty() ? "" : parsed.diagnostics.front().message);
    return made;
  }

  TracedSystem system;
};

inline bool has_note(const TracedModel& made, const std::string& text) {
  return std::ranges::any_of(
      made.notes, [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

}  // namespace rclrt::trace
