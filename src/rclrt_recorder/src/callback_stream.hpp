// SPDX-License-Identifier: Apache-2.0
// The results of one callback while the run goes on, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "rclrt/recorder/callback_accounting.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// The counts and distributions of one callback. Copyable.
class CallbackStream {
 public:
  void take(const InstanceRecord& record) {
    ++taken_;
    if (record.outcome != Outcome::kRan) {
      return;
    }
    times_.response.add(record.end_ns - record.release_ns);
    times_.dispatch.add(record.start_ns - record.ready_ns);
    times_.execution.add(record.cpu_ns);
    preemptions_ += record.preemptions;
    if (const auto moved = migrations_of(record, {})) {
      migrations_ = migrations_.value_or(0) + *moved;
    }
  }

  CallbackResult result() const {
    return {.response = times_.response.summary(),
            .dispatch = times_.dispatch.summary(),
            .execution = times_.execution.summary(),
            .preemptions = preemptions_,
            .migrations = migrations_};
  }

  /// Returns the number of all instances, also of those that did not run user code.
  std::uint64_t taken() const { return taken_; }

  const CallbackTimes& times() const { return times_; }

  std::size_t counters() const {
    return times_.response.counters() + times_.dispatch.counters() + times_.execution.counters();
  }

 private:
  CallbackTimes times_;
  std::uint64_t taken_ = 0;
  std::uint64_t preemptions_ = 0;
  std::optional<std::uint64_t> migrations_;
};

}  // namespace rclrt::recorder
