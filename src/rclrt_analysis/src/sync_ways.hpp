// SPDX-License-Identifier: Apache-2.0
// Which release a run of a chain's callback may have to wait for, where the chain meets others in
// synchronisers.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "level_work.hpp"

namespace rclrt::analysis::detail {

/// A sync on a chain, and whose release may be the one that its run waits for.
struct Join {
  std::size_t at{};                ///< position of the sync on the chain
  Ticks lag{};                     ///< at most so much later than the chain's timer is that release
  std::vector<std::size_t> other;  ///< publishers of the other input
};

struct Joins {
  std::vector<Join> joins;
  /// No message of these may be lost for the lags to hold, besides the chain's own.
  std::vector<std::size_t> relies_on;
  /// Every message of the chain finds a partner in every sync: both inputs come from one release,
  /// or from two timers of the same period and stated offset.
  bool complete = true;
};

/// A bound, with the callbacks besides the chain's of which no message may be lost.
struct RelyingBound {
  ChainBound bound;
  std::vector<std::size_t> relies_on;
};

/// One way by which the last callback of a chain comes to run: the release of a timer, and from
/// there on callbacks of at least `level`, each of which releases the next one at its end.
struct Way {
  std::size_t timer{};              ///< index into Workload::timers
  int level{};                      ///< the lowest from that timer to the last callback
  Ticks lag{};                      ///< see Join; 0 for the chain itself
  std::optional<std::size_t> sync;  ///< where it joins the chain; absent for the chain itself
};

/// From the release of the chain's timer until its message is at the sync that is callback `n` of
/// the chain, before all that the other input brings from then on; absent when there is no bound.
using Arrival = std::function<std::optional<Ticks>(std::size_t n)>;

/// Where these callbacks of a chain meet others. It follows from what rclrt's synchronisers do:
///
/// A run of a sync starts when the later message of its pair arrives. If that is the chain's own,
/// the chain goes on at once. If not, the run was released by the other message, and so was all
/// that follows, up to the next sync where the same question is asked: the response is at most the
/// lag of the other timer's release behind the chain's, and the response from there.
///
/// Messages are stamped with the release of their timer, a sync's with the later one of its two. A
/// pair lies within the window, so the other message's stamp, and with it the release of whatever
/// timer set it going, is at most a window after the stamp of the chain's message. That needs no
/// assumption on periods, phases, losses, or on what else the sync pairs.
///
/// Where both inputs have one publisher each, with one timer behind it and no sync between, more is
/// known. The next release b of the other timer after the release a of the chain's is less than the
/// other's period away, or its first one. Only an earlier message of the chain can have taken it
/// away, and that lies a period of the chain's timer before a: not with a window shorter than that
/// period. With a longer one, what was taken had arrived before the chain's message did, so the lag
/// is at most the time to that arrival and a period of the other timer. Both inputs from one timer
/// or one sync: by induction each message meets its twin, of the same stamp. Where both timers
/// state an offset, the lag is congruent to its difference modulo the greatest common divisor of
/// the periods.
///
/// Where the chain's message completes the pair, the other's stamp is no later than that, unless
/// the sync's depth is too short for the message of b to wait for it; within the window always.
Joins find_joins(const Workload& workload, std::span<const std::size_t> callbacks,
                 const Arrival& arrival);

/// All ways to the last of the callbacks; the chain itself is the first one.
std::vector<Way> ways_to_last(const Workload& workload, std::span<const std::size_t> callbacks,
                              const std::vector<Join>& joins);

}  // namespace rclrt::analysis::detail
