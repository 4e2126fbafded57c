// SPDX-License-Identifier: Apache-2.0
#include "deadlock_watch.hpp"

#include <utility>

#include "rclrt/executor/edf_executor.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt_rclcpp {

namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

constexpr const char* kSameGroup =
    "is in the same mutually exclusive callback group. If it waits for that response, it waits for "
    "ever: put the client into a callback group of its own.";
constexpr const char* kSameThread =
    "has the same priority. If it waits for that response and holds that priority's only thread, "
    "it waits for ever: give the client a higher priority (under EDF a shorter deadline), or each "
    "level two threads (`engine.workers_per_level`).";
constexpr const char* kSharedThreads =
    "runs to completion. If it waits for that response and holds the executor's only free worker, "
    "it waits for ever: let the executor have more (`engine.workers_per_level`).";
constexpr const char* kOneThread =
    "runs to completion. If it waits for that response, it waits for ever: give the client an "
    "executor of its own, or let callbacks preempt (`engine.preemption` kAlways, and a shorter "
    "deadline for the client).";

const char* thread_advice(const engine::Executor& engine, bool shared) {
  if (!shared) {
    return kSameThread;
  }
  return dynamic_cast<const engine::EdfExecutor*>(&engine) != nullptr ? kOneThread : kSharedThreads;
}

}  // namespace

/// With the registry's lock held, once a second: whether a response has waited since the last time
/// though nobody was in the way of the client's callback but who has the workers.
bool DeadlockWatch::waits(const Entry& client) {
  const Listener* const listener = client.bound.listener.get();
  const engine::Counters counters = client.bound.callback->counters();
  if (counters.pending() == 0 || listener->running_since_ns() != 0) {
    waiting_.erase(listener);
    return false;
  }
  const auto [before, fresh] = waiting_.try_emplace(listener, counters.completed);
  return !fresh && std::exchange(before->second, counters.completed) == counters.completed;
}

void DeadlockWatch::look(const Entries& entries, const engine::Executor& engine) {
  const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns();
  const bool shared = engine.runs_to_completion();
  for (const auto& [key, client] : entries) {
    const auto group = client.group.lock();
    if (client.place.kind != "client" || !group) {
      continue;
    }
    const bool any_level = waits(client) && shared;
    if (client.bound.callback->counters().pending() == 0) {
      continue;
    }
    const bool exclusive = group->type() == rclcpp::CallbackGroupType::MutuallyExclusive;
    for (const auto& [other_key, other] : entries) {
      const bool same_group = exclusive && other.group.lock() == group;
      const bool same_level =
          !shared && other.bound.callback->level() == client.bound.callback->level();
      const std::int64_t since_ns = other.bound.listener->running_since_ns();
      if (!(same_group || same_level || any_level) || since_ns == 0 ||
          now_ns - since_ns < kSecond_ns ||
          std::exchange(suspects_[other.bound.listener.get()], since_ns) == since_ns) {
        continue;
      }
      RCLCPP_WARN(rclcpp::get_logger("rclrt_rclcpp"),
                  "the response for '%s' waits for '%s', which has been running for %.1f s and %s",
                  to_string(client.place).c_str(), to_string(other.place).c_str(),
                  static_cast<double>(now_ns - since_ns) / 1e9,
                  same_group ? kSameGroup : thread_advice(engine, shared));
    }
  }
}

}  // namespace rclrt_rclcpp
