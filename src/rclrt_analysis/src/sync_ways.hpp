// SPDX-License-Identifier: Apache-2.0
// Which release a run of a chain's callback may have to wait for, where the chain meets others in
// synchronisers.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
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
  /// Every message of the chain finds its partners in every sync: the inputs come from one timer or
  /// sync, or from timers of the same period and stated offset.
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

/// From the release of the chain's timer or event until its message is at the sync that is callback
/// `n` of the chain, before all that the other input brings from then on; absent when there is no
/// bound.
using Arrival = std::function<std::optional<Ticks>(std::size_t n)>;

/// What Arrival has returned for the prefixes of one chain. Each asks for those of the syncs in it.
using KnownArrivals = std::map<std::size_t, std::optional<Ticks>>;

/// Where these callbacks of a chain meet others. It follows from what rclrt's synchronisers do:
///
/// A run of a sync starts when the last message of its set arrives. If that is the chain's own,
/// the chain goes on at once. If not, the run was released by the other message, and so was all
/// that follows, up to the next sync where the same question is asked: the response is at most the
/// lag of the other timer's release behind the chain's, and the response from there.
///
/// Messages are stamped with the release of their timer, a sync's with the latest of its set. A set
/// lies within the window, so the stamp of each other message, and with it the release of whatever
/// timer set it going, is at most a window after the stamp of the chain's message. That needs no
/// assumption on periods, phases, losses, or on what else the sync puts together.
///
/// A sync keeps `depth` messages of each input: when so many later ones of the chain have come, the
/// chain's message is done with. Where no sync is before, those come a period apart, each within
/// the time of its arrival. Whatever is in a set with the chain's message had been released by
/// then.
///
/// More is known where the chain's input and the other have one publisher each, with one timer
/// behind it and no sync between. The chain's may also be an event: its shortest interval is the
/// period below; only the other needs a grid. Let b be the next release of the other timer after
/// the release a of the chain's: it is less than the other's period away, or the first one, or a
/// itself.
///
/// With a window shorter than the period of the chain's timer, no set with an earlier message of
/// the chain has that of b, which is more than the window after it. Should a later message than b's
/// complete the set of a, then b's could stand in its place, nearer to a, and was there before: the
/// last of those messages to arrive would have been in a set at once, and with it, or with b's, the
/// message of a would have gone. So it is no later than b, whatever other inputs there are. Where
/// another message completes the set, b's would have been taken in the place of a later one, unless
/// the sync's depth is too short for it to wait so long; within the window always. So long is until
/// the chain's message comes in a sync of two inputs; of more, nothing is said.
///
/// With a longer window, in a sync of two inputs, what was taken had arrived before the chain's
/// message did, so the lag is at most the time to that arrival and a period of the other timer: the
/// first of its messages to arrive then is later than all that wait at the chain's input, so it
/// goes with the last of these, and those before are done with. That needs no more of the chain's
/// input than that its stamps increase, so it holds for any timer, and behind syncs of each of
/// whose inputs that is true; not where an input has several publishers, which bring equal stamps.
/// With a third input, an earlier message of the chain may be as near to the third one's.
///
/// Where both timers state an offset, the lag is congruent to its difference modulo the greatest
/// common divisor of the periods.
///
/// All inputs, however many, from one timer or one sync: by induction each message meets those of
/// the same stamp. What waits at each input begins with the same release; of the oldest one that is
/// not complete a message is missing, so that input is empty, and no set without it can be formed.
/// Timers of one period and one stated offset are as one.
Joins find_joins(const Workload& workload, std::span<const std::size_t> callbacks,
                 const Arrival& arrival, KnownArrivals& known);

/// All ways to the last of the callbacks; the chain itself is the first one.
std::vector<Way> ways_to_last(const Workload& workload, std::span<const std::size_t> callbacks,
                              const std::vector<Join>& joins);

}  // namespace rclrt::analysis::detail
