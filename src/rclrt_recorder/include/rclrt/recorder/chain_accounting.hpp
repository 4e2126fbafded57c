// SPDX-License-Identifier: Apache-2.0
// The results of every instance of every chain.
#pragma once

#include <cstdint>
#include <optional>
#include <rclrt/model/application.hpp>
#include <span>
#include <vector>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/host_stall.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/statistics.hpp"

namespace rclrt::recorder {

/// The measured part of a run: releases in [start_ns, end_ns) count. CLOCK_MONOTONIC.
struct RunWindow {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// A nominal release of a chain's timer, whether or not the timer's callback ran for it.
struct ChainRelease {
  std::uint64_t instance = 0;
  std::int64_t release_ns = 0;
};

/// The result of an instance of a chain.
enum class ChainStatus {
  kCompleted,  ///< its last callback ended in time
  kLate,       ///< its last callback ended after the deadline
  kDropped,    ///< it never completed and a newer instance did: it was lost
  kPending,    ///< it had not completed when the run ended
  /// A message of the instance reached a synchroniser, which later removed it: a set with a newer
  /// message was formed first. Inputs of unequal rates leave such messages over. The instance has
  /// no response and is not a miss.
  kUnmatched,
  /// Its last callback ended, in time or late: the deadline is within the error of the response,
  /// because the chain goes over hosts with different clocks. It is not a miss.
  kUnknown,
};

/// One release of a chain, and its result.
struct ChainInstance {
  std::uint64_t instance = 0;
  std::int64_t release_ns = 0;
  /// The end of the last callback: completed, late or unknown.
  std::optional<std::int64_t> completion_ns;
  ChainStatus status = ChainStatus::kPending;
  /// true: the instance was late, dropped, or still pending at the end of the run although its
  /// deadline had passed. A pending instance that waits in a synchroniser is not a miss as long as
  /// it has waited no longer than earlier instances did.
  bool missed = false;
  /// Missed, but in time without the stalled time. Never true of a dropped instance.
  bool missed_host = false;
  /// The time during which the host did not run the chain's CPUs, between release and completion.
  /// For a pending instance it is counted up to the end of the run, for a dropped one up to its
  /// deadline.
  std::int64_t host_stall_ns = 0;

  std::optional<std::int64_t> response_ns() const {
    return completion_ns ? std::optional(*completion_ns - release_ns) : std::nullopt;
  }

  bool operator==(const ChainInstance&) const = default;
};

/// `released == completed + dropped + pending + unmatched`; `completed` includes the late and the
/// unknown ones.
struct ChainResult {
  std::vector<ChainInstance> instances;  ///< ascending by instance
  std::uint64_t released = 0;
  std::uint64_t completed = 0;
  std::uint64_t dropped = 0;
  std::uint64_t pending = 0;
  std::uint64_t unmatched = 0;  ///< see ChainStatus::kUnmatched
  std::uint64_t missed = 0;
  std::uint64_t missed_host = 0;
  std::uint64_t unknown = 0;        ///< see ChainStatus::kUnknown
  std::optional<Summary> response;  ///< nominal release to end of the last callback

  bool operator==(const ChainResult&) const = default;
};

/// Returns one result for each chain of `application`, in the same order.
///
/// A synchroniser may remove a waiting message because a newer one needs its place. The message's
/// instance is dropped if later messages of the other inputs would have matched best with this
/// message; otherwise it is unmatched.
///
/// An instance completes when the chain's last callback has run for its token; a record that ends
/// after the window still counts. A chain is delayed by stalls of the CPUs of its callbacks'
/// executors, and of the CPUs that the application states for the middleware's threads.
///
/// `releases[c]` are the releases of chain c, each instance once, in any order. Releases outside
/// the window are ignored, and so are tokens of instances that are not among the releases.
/// `windows`: one for each chain, within `window`; empty: each chain has the whole. Throws
/// std::invalid_argument if the number of lists in `releases` is not the number of chains.
RCLRT_RECORDER_EXPORT std::vector<ChainResult> account_chains(
    const model::Application& application, const RunWindow& window,
    std::span<const std::vector<ChainRelease>> releases, std::span<const InstanceRecord> records,
    std::span<const HostStall> stalls, std::span<const RunWindow> windows = {});

}  // namespace rclrt::recorder
