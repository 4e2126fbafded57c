// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/callback_accounting.hpp"

#include <utility>

namespace rclrt::recorder {

namespace {

struct Times {
  std::vector<std::int64_t> response_ns;
  std::vector<std::int64_t> dispatch_ns;
  std::vector<std::int64_t> execution_ns;
  std::uint64_t preemptions = 0;
  std::optional<std::uint64_t> migrations;
};

}  // namespace

std::vector<CallbackResult> account_callbacks(std::size_t callbacks,
                                              std::span<const InstanceRecord> records,
                                              std::span<const CpuPart> parts) {
  std::vector<Times> times(callbacks);
  for (const InstanceRecord& record : records) {
    if (record.outcome == Outcome::kRan && record.callback < callbacks) {
      Times& own = times[record.callback];
      own.response_ns.push_back(record.end_ns - record.release_ns);
      own.dispatch_ns.push_back(record.start_ns - record.ready_ns);
      own.execution_ns.push_back(record.cpu_ns);
      own.preemptions += record.preemptions;
      if (const auto migrations = migrations_of(record, parts)) {
        own.migrations = own.migrations.value_or(0) + *migrations;
      }
    }
  }
  std::vector<CallbackResult> results;
  results.reserve(callbacks);
  for (Times& own : times) {
    results.push_back({.response = summarise(std::move(own.response_ns)),
                       .dispatch = summarise(std::move(own.dispatch_ns)),
                       .execution = summarise(std::move(own.execution_ns)),
                       .preemptions = own.preemptions,
                       .migrations = own.migrations});
  }
  return results;
}

}  // namespace rclrt::recorder
