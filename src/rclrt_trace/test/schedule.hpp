// SPDX-License-Identifier: Apache-2.0
// A robot with the runs of several threads that a test writes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "robot.hpp"

namespace rclrt::trace {

/// Node 1 has timers; the number of a timer is its handle and its callback. The grid of each timer
/// begins at `begin_ns`, when the runs begin as well. Times are in ms since then.
struct Schedule : Robot {
  static constexpr std::int64_t kFirstThread = 100;  // the number of the thread that is called 0
  std::int64_t begin_ns = now_ns;

  Schedule() { node(1, "n"); }

  void add_timer(std::uint64_t callback, std::int64_t period_ms, std::uint64_t of_node = 1) {
    timer(callback, of_node, period_ms * kMs, callback);
  }
  void run(std::int64_t on_thread, std::uint64_t callback, std::int64_t from_ms,
           std::int64_t to_ms) {
    at(from_ms, 1, [this, on_thread, callback] {
      tid = kFirstThread + on_thread;
      cpu = static_cast<int>(on_thread);
      start(callback);
    });
    at(to_ms, 0, [this, on_thread, callback] {
      tid = kFirstThread + on_thread;
      end(callback, 0);
    });
  }
  void publish_at(std::int64_t ms, std::uint64_t publisher_handle, std::uint64_t stamp) {
    at(ms, 2, [this, publisher_handle, stamp] {
      tid = kFirstThread + 50;  // outside of callbacks
      publish(publisher_handle, stamp);
    });
  }
  void take_and_run(std::int64_t on_thread, std::uint64_t subscription_handle, std::uint64_t stamp,
                    std::uint64_t callback, std::int64_t from_ms, std::int64_t to_ms) {
    at(from_ms, 1, [this, on_thread, subscription_handle, stamp] {
      tid = kFirstThread + on_thread;
      take(subscription_handle, stamp);
    });
    run(on_thread, callback, from_ms, to_ms);
  }
  /// Events may be missing.
  void damage(std::int64_t from_ms, std::int64_t to_ms) {
    at(from_ms, 3, [this, to_ms] {
      emit(EventKind::kDamage, {static_cast<std::uint64_t>(begin_ns + to_ms * kMs),
                                static_cast<std::uint64_t>(now_ns)});
    });
  }
  /// Emits the events in order of time and returns the model.
  TracedModel play() {
    std::ranges::stable_sort(events_, {}, [](const auto& each) { return each.first; });
    for (const auto& [time, emit_it] : events_) {
      now_ns = begin_ns + time.first * kMs;
      emit_it();
    }
    return model();
  }

 private:
  using Time = std::pair<std::int64_t, int>;  // at one time, runs end before others begin
  void at(std::int64_t ms, int order, std::function<void()> emit_it) {
    events_.emplace_back(Time{ms, order}, std::move(emit_it));
  }
  std::vector<std::pair<Time, std::function<void()>>> events_;
};

}  // namespace rclrt::trace
