// SPDX-License-Identifier: Apache-2.0
// Upper bounds on the response time of chains, from the nominal release of the chain's timer or
// event to the end of its last callback.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/analysis/verdict.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis {

/// Bounds are offered for the kinds that run callbacks; the functions below throw
/// std::invalid_argument for one that is simulated only. kPreemptive, kProducerConsumer and
/// kThreadDispatch differ in who does the dispatching, which on one core is a matter of Overheads.
using model::ExecutorKind;

/// Least and most time from a publication to the subscriber's being ready.
struct Hop {
  Ticks min{};
  Ticks max{};
  bool operator==(const Hop&) const = default;
};

/// What the machine adds, in ns; zero is the model without overheads.
struct Overheads {
  Ticks dispatch{};      ///< for each instance: queueing, switching to it and back
  Ticks timer_jitter{};  ///< how late a timer may be released
  Ticks scheduler{};     ///< for each instance on a scheduler thread, which runs above all levels
  Ticks polling{};       ///< for each polling point of a wait set
  Ticks background{};    ///< lost in each millisecond to what runs above all: interrupts, the host
  Ticks stall{};         ///< lost once to what runs above all, timers going on: a CPU stood still
  Hop near{};            ///< of a message between callbacks of one executor
  Hop far{};             ///< of a message between executors
  bool operator==(const Overheads&) const = default;
};

/// One term of a bound, the longest first: the why of it.
struct Contribution {
  /// What the work is that a chain waits for.
  enum class Kind {
    kOwn,
    kInterference,
    kStarted,
    kOtherInput,
    kCallback,    ///< from being ready to its end, where each callback is bounded by itself
    kSegment,     ///< of callbacks of one CPU one after the other, `releases` of them: from the
                  ///< first one's being ready to the end of the last, which is `callback`
    kHop,         ///< of the message to it
    kLate,        ///< of the timer
    kReadySets,   ///< of a wait set, until the callback has ended
    kBackground,  ///< Overheads::background; `callback` says nothing
    kStall,       ///< Overheads::stall; `callback` says nothing
  };
  Kind kind{};
  std::size_t callback{};  ///< the chain's timer, the interfering timer, the callback that had
                           ///< started before, or the sync whose other input is released later
  Ticks releases{};        ///< how often it counts
  Ticks total{};           ///< ns
};

/// An upper bound on a chain's response time, and what it rests on.
struct ChainBound {
  std::optional<Ticks> bound;  ///< ns; absent when none was found
  Verdict verdict{Verdict::kUnknown};
  int level{};                           ///< the lowest priority on the chain's way
  std::vector<std::string> assumptions;  ///< besides those of chain_assumptions()
  std::vector<Contribution> why;         ///< of the bound; sums up to it with `waited`
  Ticks waited{};                        ///< time between the timer's release and the busy period's
                                         ///< start that the bound does not count
  std::string note;                      ///< why there is no bound, or no verdict
  /// What an event right after a release waits for at most, up to the end of the instance that sees
  /// it; and how old what an instance has read can be when the next one ends and replaces it. With
  /// every instance reaching its end both are a period and the bound: Duerr, von der Brueggen, Chen
  /// and Chen, "End-to-end timing analysis of sporadic cause-effect chains in distributed systems",
  /// ACM TECS 18(5s), 2019; that they are equal: Guenzel et al., ECRTS 2023. Absent without a
  /// bound, and where an instance may find no partner in a sync.
  std::optional<Ticks> reaction;
  std::optional<Ticks> data_age;
};

/// Returns one bound per chain. On one core, by the busy period of the lowest level pi on the
/// chain's way:
///   w_q = q Head_i + Own_i + max(0, ceil((w_q + J_i) / T_i) - q - 1) Early_i
///         + sum over k of ceil((w_q + J_k) / T_k) Head_k + max Started,
/// the bound being the largest w_q - q T_i. Head_k is the work that one release of timer k can
/// bring before a callback below pi is needed, equal levels included; Started is the rest of one
/// callback below pi that holds a group's ceiling, and the work of level pi and above that follows
/// it. Harbour, Klein and Lehoczky, "Fixed priority scheduling of periodic tasks with varying
/// execution priority", RTSS 1991, section 4, with trees of callbacks in the place of sequences;
/// blocking by the immediate ceiling: Sha, Rajkumar and Lehoczky, IEEE TC 39(9), 1990. Where the
/// chain meets others in a sync, the bound is the largest over who may bring the last message of a
/// set: the lag of that timer's release behind the chain's, at most the sync's window, and the
/// bound of the path from there.
///
/// Under EDF and in a wait set, with hop latencies, and for executors that exchange messages or
/// share a CPU, each callback is bounded by itself, and what follows each other on one CPU by one
/// busy period; the responses are summed up along the chain, with jitter propagation: Tindell and
/// Clark 1994 (see holistic.hpp, segment_bounds.hpp). Pure; any thread. Throws
/// std::invalid_argument for a graph with a cycle.
RCLRT_ANALYSIS_EXPORT std::vector<ChainBound> chain_bounds(
    const model::Application& application, ExecutorKind executor = ExecutorKind::kPreemptive,
    const Overheads& overheads = {}, Effort effort = {});

/// Of each callback.
struct QueueBound {
  /// The most instances of one input that are released and have not ended; absent: no bound.
  std::optional<Ticks> pending;
  std::size_t depth{};  ///< how many may wait before one is lost
  bool holds() const { return pending && *pending <= static_cast<Ticks>(depth); }
};

/// Returns how many more may be released within the time from a release to the end of what it set
/// going. As chain_bounds().
RCLRT_ANALYSIS_EXPORT std::vector<QueueBound> queue_bounds(
    const model::Application& application, ExecutorKind executor = ExecutorKind::kPreemptive,
    const Overheads& overheads = {}, Effort effort = {});

/// Returns why no bounds are offered for this executor; std::nullopt where they are: then the
/// bounds are those of its kind. Thread-safe.
RCLRT_ANALYSIS_EXPORT std::optional<std::string> why_no_bounds(
    const model::ExecutorChoice& executor);

/// Returns what every bound of this executor assumes.
RCLRT_ANALYSIS_EXPORT std::vector<std::string> chain_assumptions(ExecutorKind executor,
                                                                 const Overheads& overheads);

}  // namespace rclrt::analysis
