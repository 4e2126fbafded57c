// SPDX-License-Identifier: Apache-2.0
// Callbacks without a middleware: the test makes them ready.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/timer.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::executor::test {

class TestCallback : public Callback {
 public:
  using Body = std::function<void(const InstanceInfo&)>;
  TestCallback(CallbackOptions options, Body body)
      : Callback(std::move(options)), body_(std::move(body)) {}

  void release_now() {
    const std::int64_t now = realtime::monotonic_now_ns();
    release(now, now);
  }

  /// Releases `count` instances as a middleware would: from any thread, while it is attached.
  void burst(std::size_t count) {
    const std::scoped_lock lock(listener_);
    for (std::size_t i = 0; i < count && listening_; ++i) {
      release_now();
    }
  }

  /// The outcome of the next runs; kEmpty and kBuffered skip the body.
  Outcome outcome = Outcome::kRan;

 protected:
  Outcome run(InstanceInfo& info) override {
    info.start_ns = realtime::monotonic_now_ns();
    if (outcome == Outcome::kRan) {
      body_(info);
    }
    return outcome;
  }
  void attach() override {
    const std::scoped_lock lock(listener_);
    listening_ = true;
  }
  void detach() noexcept override {
    const std::scoped_lock lock(listener_);
    listening_ = false;
  }

 private:
  Body body_;
  realtime::PiMutex listener_;
  bool listening_ = false;
};

/// A log of events, in order; callbacks of different levels append to it.
class EventLog {
 public:
  void push_back(const std::string& event) {
    const std::scoped_lock lock(mutex_);
    events_.push_back(event);
  }
  std::vector<std::string> events() const {
    const std::scoped_lock lock(mutex_);
    return events_;
  }

 private:
  mutable realtime::PiMutex mutex_;
  std::vector<std::string> events_;
};

class TestTimer : public TimerCallback {
 public:
  TestTimer(CallbackOptions options, TimerOptions timer, TestCallback::Body body)
      : TimerCallback(std::move(options), timer), body_(std::move(body)) {}

 protected:
  Outcome run(InstanceInfo& info) override {
    info.start_ns = realtime::monotonic_now_ns();
    body_(info);
    return Outcome::kRan;
  }

 private:
  TestCallback::Body body_;
};

/// Computes until the condition holds. Meanwhile other threads can run on this CPU only by
/// preemption.
template <typename Condition>
bool busy_until(Condition condition) {
  const std::int64_t limit = realtime::monotonic_now_ns() + 20'000'000'000;
  while (!condition()) {
    if (realtime::monotonic_now_ns() > limit) {
      return false;
    }
  }
  return true;
}

inline void busy_for(std::int64_t duration_ns) {
  busy_until([until = realtime::monotonic_now_ns() + duration_ns] {
    return realtime::monotonic_now_ns() > until;
  });
}

/// Returns a deadline that is longer for lower levels. The deadlines are so far apart that the
/// release times of a test do not matter: an order by deadline is the order by level. Never missed.
inline std::int64_t deadline_of(int level) { return (1'000 - level) * 3'600'000'000'000; }

inline CallbackOptions named(std::string name, int level = 0, std::size_t credits = 10,
                             std::shared_ptr<Group> group = nullptr) {
  return {.name = std::move(name),
          .level = level,
          .credits = credits,
          .group = std::move(group),
          .deadline_ns = deadline_of(level)};
}

inline CallbackOptions timer_named(std::string name, int level = 0, std::size_t credits = 10) {
  CallbackOptions options = named(std::move(name), level, credits);
  options.type = EntityType::kTimer;
  return options;
}

/// One CPU, so that order of priority is order of execution. Each level has threads of its own with
/// and without permission for real time, so that runs with sanitizers, which never have the
/// permission, use them, too.
inline ExecutorOptions on_one_cpu(InstanceSink* sink = nullptr) {
  ExecutorOptions options;
  options.preemption = Preemption::kAlways;
  options.name = "test";
  options.cpus = {realtime::allowed_cpus().front()};
  options.sink = sink;
  return options;
}

#define RCLRT_SKIP_WITHOUT_REALTIME() \
  if (const auto reason = ::rclrt::realtime::why_no_realtime(95)) GTEST_SKIP() << *reason

}  // namespace rclrt::executor::test
