// SPDX-License-Identifier: Apache-2.0
// The busy periods of one EDF executor: for each deadline, how long the work lasts that is due by
// it.
//
// Spuri's analysis (INRIA RR-2772, 1996) studies an instance that arrives `a` after the start of a
// busy period and is due at d = a + D, for its relative deadline D. The work that delays it depends
// only on d: all instances that are due by d, its own callback's earlier ones included. So one
// sequence of busy periods serves all callbacks. For each d, E(d) is the least w with
//   w = 1 + B(d) + sum over due streams of min(ceil((w + J) / T), floor((d - D + J) / T) + 1) C
//         + sum over other streams of ceil((w + J) / T) C,
// and the response of a callback is the largest E(d) - 1 - (d - D) over all d from D on. A due
// stream counts only from d = D - L on, if its deadlines count from a time at most L before the
// arrival (EdfWork::Due::late). In Spuri's model they count from the nominal arrival, so L is J.
//
// Spuri's own formula differs in one respect: instances of the callback under study that arrive up
// to `a` all count, also if the busy period ends before. The largest response is the same. Proof:
// let t = E(d) be no later than a. From t to w, no more instances of any stream count than from 0
// to w - t for an instance that arrives at a - t. So the response for a - t is at least as long,
// and a - t is earlier than a. Repeating this ends at an arrival within its busy period.
#pragma once

#include <span>
#include <vector>

#include "bounds/busy_window.hpp"
#include "demand.hpp"

namespace rclrt::analysis::detail {

/// The work of one EDF executor, and what delays it.
struct EdfWork {
  /// Instances that count if they are due in time.
  struct Due {
    Stream stream;
    Ticks deadline{};  ///< relative to the time from which it counts
    /// The deadline counts from a time at most this much before the arrival. If it is less than the
    /// jitter, no instance that arrives in the busy period is due before `deadline` less this.
    Ticks late = kHorizon;
  };

  /// Work that counts once in the busy period of a deadline in [from, until). If several apply,
  /// only the longest counts.
  struct Blocking {
    Ticks work{};
    Ticks from{};
    Ticks until{};
  };

  /// The response for this relative deadline need only be compared with a limit: what is found is
  /// at most `response` if the response is, and above it otherwise.
  struct Limit {
    Ticks deadline{};
    Ticks response{};
  };

  std::vector<Due> due;
  std::vector<Stream> always;  ///< all instances that arrive in the busy period count
  std::vector<Blocking> blocking;
  std::vector<Limit> limits;  ///< for all deadlines that are asked for; empty: for none
};

/// The search ends where no later deadline can matter. With utilisations U and Ua of the due and
/// the other streams, E(d) is at most
///   (1 + max B + sum of Ua (J + T) + sum of U max(0, d - D + J + T)) / (1 - sum of Ua) - 1,
/// which grows by less than d does. No E(d) is longer than the busy period of all instances that
/// arrive in it, whenever they are due; so later arrivals are not examined. George, Rivierre and
/// Spuri, INRIA RR-2966, 1996, limit the deadlines of a demand test in this way.
class EdfBusyPeriods {
 public:
  EdfBusyPeriods(const EdfWork& work, Budget& budget);

  /// Returns the longest time from the arrival to the end of an instance with this relative
  /// deadline; kHorizon if there is no bound or the budget has ended. See EdfWork::Limit.
  Ticks response(Ticks deadline) const;

 private:
  /// From the deadline `from` on, up to that of the next one, the busy period ends at `end`.
  struct Step {
    Ticks from{};
    Ticks end{};
    Ticks latest{};  ///< the most by which the end is after the deadline, from this step on
  };

  bool search(const EdfWork& work, Budget& budget);
  bool bounded_by(Ticks latest);

  std::vector<Step> steps_;        // in order of deadlines; empty: there is no bound
  Ticks latest_after_{-kHorizon};  // a bound on Step::latest after the last step
  Ticks longest_{kHorizon};        // no busy period is longer
};

}  // namespace rclrt::analysis::detail
