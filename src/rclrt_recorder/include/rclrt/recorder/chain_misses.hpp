// SPDX-License-Identifier: Apache-2.0
// Explains why chain instances missed their deadlines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <rclrt/model/application.hpp>
#include <span>
#include <string>
#include <vector>

#include "rclrt/executor/blame.hpp"
#include "rclrt/recorder/chain_accounting.hpp"
#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/host_times.hpp"
#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

/// An instance that delayed a chain.
struct ChainCulprit {
  std::uint64_t record = 0;  ///< its number among the records
  std::int64_t time_ns = 0;
  std::int64_t cpu_ns = 0;  ///< of that, at most
  executor::Reason reason = executor::Reason::kMoreUrgent;

  bool operator==(const ChainCulprit&) const = default;
};

/// Explains a missed instance of a chain: how its time was spent, from its release to its end, or
/// to its deadline if it never ended.
struct ChainMiss {
  std::size_t chain = 0;  ///< index into Application::chains
  ChainInstance instance;
  std::int64_t late_ns = 0;  ///< 0 if it never ended
  std::int64_t execution_ns = 0;
  std::int64_t delayed_ns = 0;
  std::int64_t transit_ns = 0;
  std::int64_t unexplained_ns = 0;
  std::vector<ChainCulprit> culprits;  ///< the worst ones, the longest in the way first
  std::size_t more_culprits = 0;       ///< number of those that `culprits` leaves out
  std::int64_t more_culprits_ns = 0;   ///< the sum of their times

  bool operator==(const ChainMiss&) const = default;
};

/// The inputs of the explanation of a miss.
struct MissInputs {
  const model::Application& application;
  std::span<const ChainResult> chains;
  std::span<const InstanceRecord> records;
  /// One per callback: decides which callback preempts which. All equal if none does.
  std::span<const int> priorities;
  /// CPUs of an executor that states none.
  std::size_t cpus = 1;
  /// The number of callbacks that an executor runs at a time, whatever the number of its CPUs; 0:
  /// as many as it has CPUs.
  std::size_t threads = 0;
  /// For edf: the relative deadline of each callback in nanoseconds, counted from the release. Then
  /// `priorities` are not used: an instance that starts while others run has preempted them. Empty:
  /// the priorities decide which instance preempts which.
  std::span<const std::int64_t> deadlines{};
  /// The host of each callback, and the CPUs of each host (0: `cpus`), in a run over several hosts.
  /// Executors of different hosts share no CPU. nullptr: one host.
  const HostTable* hosts = nullptr;
};

/// Returns the `limit` worst misses of each chain: first those that never ended, then the latest
/// ones. Possible culprits are the instances of all executors that share a CPU with the chain.
/// Throws std::invalid_argument unless there is one result for each chain, and one priority (and
/// deadline, if any) for each callback.
RCLRT_RECORDER_EXPORT std::vector<ChainMiss> explain_misses(const MissInputs& inputs,
                                                            std::size_t limit);

/// Returns the explanation as one line of text: "chain X instance 12 missed by 3.1 ms: 2.4 ms
/// burner#40 (priority 1, less urgent), ...".
RCLRT_RECORDER_EXPORT std::string miss_text(const model::Application& application,
                                            std::span<const InstanceRecord> records,
                                            const ChainMiss& miss);

}  // namespace rclrt::recorder
