// SPDX-License-Identifier: Apache-2.0
// Upper bounds on the response time of chains, from the nominal release of the chain's timer or
// event to the end of its last callback.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/analysis/assumption.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/analysis/verdict.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis {

/// The kinds of executors that bounds are computed for. The functions below throw
/// std::invalid_argument for a kind that is only simulated. kPreemptive, kProducerConsumer and
/// kThreadDispatch differ only in the thread that dispatches; on one core, only Overheads express
/// this difference.
using model::ExecutorKind;

/// The least and the most time from a publication until the subscriber is ready.
struct Hop {
  Ticks min{};
  Ticks max{};
  bool operator==(const Hop&) const = default;
};

/// The overheads of the machine, in ns, and the number of its CPUs; zero is the model without
/// overheads.
struct Overheads {
  Ticks dispatch{};      ///< for each instance: queueing, switching to it and back
  Ticks timer_jitter{};  ///< how late a timer may be released
  Ticks scheduler{};     ///< for each instance on a scheduler thread, which runs above all levels
  Ticks polling{};       ///< for each polling point of a wait set
  Ticks background{};    ///< lost per millisecond to work above all levels: interrupts, the host
  Ticks stall{};         ///< lost once to such work while timers continue: the CPU stopped
  Hop near{};            ///< of a message between callbacks of one executor
  Hop far{};             ///< of a message between executors
  Ticks handover{};      ///< until a thread that is to run on another CPU runs there
  int cpus{};  ///< of the machine: executors that state none may use all of them; 0: not known
  bool operator==(const Overheads&) const = default;
};

/// One term of a bound. The terms explain the bound, the longest first.
struct Contribution {
  /// The kind of work that a chain waits for.
  enum class Kind {
    kOwn,
    kInterference,
    kSets,  ///< of a sync, with what follows them
    kStarted,
    kOtherInput,
    kCallback,    ///< from being ready to its end, where each callback is bounded by itself
    kSegment,     ///< of callbacks of one CPU one after the other, `releases` of them: from the
                  ///< first one's being ready to the end of the last, which is `callback`
    kHop,         ///< of the message to it
    kLink,        ///< of the message to it, over a link from another host
    kLate,        ///< of the timer
    kReadySets,   ///< of a wait set, until the callback has ended
    kBackground,  ///< Overheads::background; `callback` says nothing
    kStall,       ///< Overheads::stall; `callback` says nothing
    kRest,        ///< the sum of the shorter terms, `releases` of them; `callback` says nothing
    kWaits,       ///< `callback`, which is on the chain, waits: model::Callback::waits
  };
  Kind kind{};
  std::size_t callback{};  ///< the chain's timer, the interfering timer, the sync, the callback
                           ///< that had started before, or the sync with a later input
  Ticks releases{};        ///< how often it counts
  Ticks total{};           ///< ns
  /// Parts of `total` on several CPUs, ns: what the chain may wait for even while a CPU is idle,
  /// and what was released before the chain and may still be under way.
  Ticks whole{};
  Ticks before{};
};

/// An upper bound on a chain's response time, with its verdict, assumptions and terms.
struct ChainBound {
  std::optional<Ticks> bound;  ///< ns; absent when none was found
  Verdict verdict{Verdict::kUnknown};
  int level{};                           ///< the lowest priority on the chain's way
  std::vector<std::string> assumptions;  ///< besides those of chain_assumptions()
  /// Those of the assumptions that no release is skipped and no message is lost.
  std::vector<std::string> without_loss{};
  /// The terms of the bound, the longest first; they sum up to it with `waited`. If there are more
  /// than Effort::terms, the last one is the exact sum of the others (kRest): without it, all
  /// chains together could have as many terms as the square of the number of callbacks.
  std::vector<Contribution> why;
  Ticks waited{};    ///< time between the timer's release and the busy period's
                     ///< start that the bound does not count
  std::string note;  ///< why there is no bound, or no verdict, or why the bound is long
  /// `reaction`: the longest time from a change of the input right after a release of the chain's
  /// timer to the end of the instance that reads it. `data_age`: the greatest age of data that an
  /// instance has read, at the end of the next instance, which replaces the result. Both are the
  /// period plus the bound if every instance reaches its end: Duerr, von der Brueggen, Chen and
  /// Chen, "End-to-end timing analysis of sporadic cause-effect chains in distributed systems", ACM
  /// TECS 18(5s), 2019; Guenzel et al., ECRTS 2023, show that they are equal. nullopt if there is
  /// no bound, or if a message of the chain may stay unmatched in a sync.
  std::optional<Ticks> reaction;
  std::optional<Ticks> data_age;
  /// For a chain that ends on another host than it starts on: the most that a response that is
  /// judged by stamps differs from the true one, by the errors of both clocks. nullopt: the file
  /// does not state them, or the chain ends on its first host.
  std::optional<Ticks> stamp_error{};
};

/// Returns one bound per chain. Pure; any thread. Throws std::invalid_argument for a graph with a
/// cycle.
///
/// On one core, let i be the timer of the chain, pi the lowest priority on the chain's path, T_k
/// and J_k the period and jitter of timer k, and w_q the time from the start of a busy period of pi
/// to the end of the chain's instance q, counted from 0:
///   w_q = q Head_i + Own_i + max(0, ceil((w_q + J_i) / T_i) - q - 1) Early_i
///         + sum over k of ceil((w_q + J_k) / T_k) Head_k
///         + sum over syncs s of Sets_s(w_q) Set_s + max Started.
/// The bound is the largest w_q - q T_i. Head_k is the work that one release of timer k can bring
/// before a callback below pi is needed, equal priorities included, up to the syncs. Own_i is the
/// part of Head_i without the work that starts only after the chain's end. Early_i is the part of
/// Head_i that a later instance may do before the chain's end. Set_s is the work of one set of sync
/// s, and Sets_s(w) the most sets in the busy period: ceil((w + J + E) / T) for the sync's rarest
/// input of period T and jitter J, of which messages may wait for E in syncs. Started is the rest
/// of one callback below pi that holds a group's ceiling, and the work of priority pi and above
/// that follows it; a callback of the chain's own timer counts with the release that started it.
/// Where callbacks of one priority run in order of release, a timer of priority pi counts up to the
/// release of the chain's last callback, if that has priority pi, too.
///
/// Source: Harbour, Klein and Lehoczky, "Fixed priority scheduling of periodic tasks with varying
/// execution priority", RTSS 1991, section 4, with trees of callbacks instead of sequences.
/// Blocking by the immediate ceiling: Sha, Rajkumar and Lehoczky, IEEE TC 39(9), 1990.
///
/// If the chain meets others in a sync, any of several timers may bring the last message of a set.
/// The bound is then the largest over these timers: the lag of the timer's release behind the
/// chain's, at most the sync's window, plus the bound of the path from there. If the chain's own
/// work was done before that release, it does not delay the path before its next release; otherwise
/// both releases are in one busy period.
///
/// A thread that runs ready sets starts each callback at most once in a set. That limits how often
/// a callback runs after a release (see path_ready_sets.cpp).
///
/// Each callback is bounded by itself under EDF, in a wait set, with hop latencies, and for
/// executors that exchange messages or share a CPU. Callbacks that follow each other on one CPU
/// have one busy period. The responses are summed up along the chain, with jitter propagation:
/// Tindell and Clark 1994 (see holistic.hpp, segment_bounds.hpp). Executors that exchange messages
/// or share a CPU are also bounded as if one CPU did the work of all (see component_bounds.hpp): a
/// message on its way is then a part of its publisher's work. The lower bound counts. For executors
/// on several CPUs see docs/explanation/several-cpus.md.
RCLRT_ANALYSIS_EXPORT std::vector<ChainBound> chain_bounds(
    const model::Application& application,
    const model::ExecutorChoice& executor = ExecutorKind::kPreemptive,
    const Overheads& overheads = {}, Effort effort = {});

/// The bound on the queue of one callback.
struct QueueBound {
  /// The most instances of one input that are released and have not ended; absent: no bound.
  std::optional<Ticks> pending;
  std::size_t depth{};  ///< how many may wait before one is lost
  bool holds() const { return pending && *pending <= static_cast<Ticks>(depth); }
};

/// Returns, for each callback, a bound on the instances of one input that are pending at a time:
/// the number of releases within the longest time from a release to the end of all that it
/// triggers. Pure; any thread. Throws as chain_bounds() does.
RCLRT_ANALYSIS_EXPORT std::vector<QueueBound> queue_bounds(
    const model::Application& application,
    const model::ExecutorChoice& executor = ExecutorKind::kPreemptive,
    const Overheads& overheads = {}, Effort effort = {});

/// Returns the assumptions of every bound of this executor.
RCLRT_ANALYSIS_EXPORT std::vector<Assumption> chain_assumptions(
    const model::ExecutorChoice& executor, const Overheads& overheads);

}  // namespace rclrt::analysis
