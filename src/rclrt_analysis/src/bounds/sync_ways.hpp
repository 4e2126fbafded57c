// SPDX-License-Identifier: Apache-2.0
// Where a chain meets other inputs in synchronisers, and how late the release of another input may
// be for which the chain then waits.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "bounds/level_work.hpp"
#include "bounds/next_messages.hpp"

namespace rclrt::analysis::detail {

/// A sync on a chain; its run may wait for a release of another input.
struct Join {
  std::size_t at{};                ///< position of the sync on the chain
  Ticks lag{};                     ///< bound on the lag of that release behind the chain's timer
  std::vector<std::size_t> other;  ///< publishers of the other input
};

struct Joins {
  std::vector<Join> joins;
  /// The lags hold only if no message of these callbacks is lost, in addition to the chain's own.
  std::vector<std::size_t> relies_on;
  /// These syncs must have room for one more message of each input than may be pending: a message
  /// waits up to half a period for the timer of another input.
  std::vector<std::size_t> with_room;
  /// Whether every message of the chain is matched in every sync. This is so if all inputs come
  /// from one timer or sync, or from timers of the same period and stated offset.
  bool complete = true;
};

/// A bound, with the callbacks besides the chain's that must not lose a message.
struct RelyingBound {
  ChainBound bound;
  std::vector<std::size_t> relies_on;
  std::vector<std::size_t> with_room{};  ///< see Joins
};

/// Replaces `found` by another bound of the same chain if that is lower, or if `found` has none.
void take_lower(RelyingBound& found, RelyingBound other);

/// A path that determines when the chain's last callback runs: the release of a timer, and from
/// there on callbacks of at least the priority `level`, each of which releases the next one.
struct Way {
  std::size_t timer{};              ///< index into Workload::timers
  int level{};                      ///< the lowest from that timer to the last callback
  Ticks lag{};                      ///< see Join, as the stated offsets allow; 0 for the chain
  std::optional<std::size_t> sync;  ///< joins the chain there; absent for the chain itself
};

/// The begin of a path from a timer or event.
struct PathStart {
  std::size_t timer{};  ///< index into Workload::timers
  int level{};          ///< the lowest on the path
};

/// Returns a bound on the time from the release of the chain's timer or event until its message has
/// arrived at the sync that is callback `n` of the chain, and counts before all that arrives at the
/// other inputs from then on. nullopt without a bound.
using Arrival = std::function<std::optional<Ticks>(std::size_t n)>;

/// The results of Arrival that are known already, by `n`, for one chain and its prefixes.
using KnownArrivals = std::map<std::size_t, std::optional<Ticks>>;

/// Which limits of a lag count.
enum class LagLimits {
  kAll,
  kFewConditions  ///< without those that need the messages of all inputs, see NextMessages
};

/// In which order a sync takes messages.
enum class Taken {
  kInOrder,  ///< as Arrival states
  kAnyOrder
};

/// Returns the syncs at which these callbacks of a chain meet other inputs (joins). Each join has a
/// bound on its lag: how long after the chain's timer the other input's timer is released, for a
/// run that waits for it. The bounds follow from the rules of rclrt's synchronisers:
///
/// A run of a sync starts when the last message of its set arrives. If that is the chain's own
/// message, the chain goes on at once. Otherwise the other message released the run, and all
/// callbacks after it, up to the next sync, where the same argument applies. So the response is at
/// most the lag of the other timer's release behind the chain's, plus the response from there.
///
/// A message is stamped with the release of its timer, a sync's message with the latest stamp of
/// its set. A set lies within the window. So the stamp of each other message, and with it the
/// release of the timer that triggered it, is at most a window after the stamp of the chain's
/// message. This needs no assumption about periods, phases or losses, or about the other sets of
/// the sync.
///
/// A sync keeps `depth` messages of each input: when `depth` later messages of the chain have
/// arrived, the chain's message has left. If no sync is before, these messages are a period apart,
/// and each arrives within its time of arrival. All messages of a set with the chain's message had
/// been released by then.
///
/// More is known if the chain's input and the other one have one publisher each, with one timer
/// behind it and no sync between. (A sync of inputs with the same releases, see the end, counts as
/// a subscription on the way from the other timer.) Either source may also be an event. The period
/// of the chain's timer below is then the event's shortest interval, and the period of the other
/// timer is the event's longest interval. Let a be the release of the chain's timer, and b the next
/// release of the other timer after a. b is less than the other's period away from a, or it is the
/// other's first release, or it is a itself.
///
/// With a window shorter than the period of the chain's timer, b's message is in no set with an
/// earlier message of the chain, because it is more than the window after that message. Suppose
/// that a message later than b's completes the set of a. Then b's message could replace it: it is
/// nearer to a, and had arrived before. The last of these messages to arrive would have formed a
/// set at once, and the message of a would have left with that set, or with b's. So the message
/// that completes the set is no later than b's, regardless of other inputs. If another message
/// completes the set, b's message would have been taken instead of a later one, unless the sync's
/// depth is too short for b's message to wait until then; the window always limits the lag. In a
/// sync of two inputs, b's message waits until the chain's message arrives. For more inputs, this
/// wait has no bound here.
///
/// With a longer window, in a sync of two inputs, the message that was taken had arrived before the
/// chain's message. So the lag is at most the time to that arrival plus a period of the other
/// timer. The reason: the first message of the other timer to arrive after that is later than all
/// that wait at the chain's input. It is matched with the last of these, and those before it are
/// removed. This only needs increasing stamps at the chain's input. So it holds for any timer, and
/// behind syncs if it holds for each of their inputs. It does not hold if an input has several
/// publishers, which bring equal stamps. With a third input, an earlier message of the chain may be
/// as near to the third one's.
///
/// If both timers state an offset, the lag is congruent to the difference of the offsets modulo the
/// greatest common divisor of the periods.
///
/// If all inputs, however many, come from one timer or one sync, each message meets those of the
/// same stamp, by induction. The waiting messages of each input begin with the same release. The
/// oldest release that is not complete lacks a message, so the input of that message is empty, and
/// no set can be formed without it. Timers of one period and one stated offset count as one. The
/// messages of such a sync have one message for each release again, with its stamp, so the same
/// holds for syncs behind it.
///
/// If all inputs come from timers of one period with stated offsets that differ by less than half
/// of it, and by no more than the window, set n has message n of each input. Proof: take two
/// messages of different inputs with numbers that differ. Their stamps are more than half a period
/// apart, so of all sets, one with equal numbers has the shortest interval, and it is formed once
/// all of its messages wait. Let m be the smallest number of a waiting message. Some input lacks
/// number m, because the set would have been formed when the last of its messages arrived. Messages
/// of an input arrive in order, so no message waits at this input, and no other set can be formed.
/// So the lag is the difference of the offsets, and the message with the smaller offset never waits
/// for the next period of the other timer. Let E be the longest time from a release to the end of
/// the run that its message completes. A message waits until E after the latest release of its
/// number. So of an input no more messages wait than are released in E and half a period: at most
/// one more than in E, for which there must be room. The stamps of the sets again have the period
/// and an offset, the largest one, so the same holds for a sync behind this one.
///
/// If the offsets differ by less than the period, but by half of it or more, so do the stamps of
/// each set: by no more than the offsets. Proof: the first set is formed when each input has its
/// first message, so it is no longer than those are apart. The input of the message that completes
/// a set is empty then, and the next set is formed when each input has a message again. The next
/// messages of all inputs are as far apart as those of the set before, and the set that is formed
/// is no longer. No message is pushed out: once all inputs have taken number n + 1, message n of no
/// input waits. For some input is empty then, so its message n + 1 has left, with one of a lower
/// number than n, which is more than a period before it. So if B is as below, no more messages of
/// an input wait than are released in B and a period, for which there must be room.
///
/// In any sync, a set has the shortest interval of those that its newest message can complete. Let
/// m be the chain's message in a set, t its stamp, and B the time of NextMessages. Take the inputs
/// of the set's messages with a stamp of at most t, the chain's own input among them. Suppose that
/// the sync had taken the next message of each of these inputs when the set was formed, and that
/// all of them are no later than w, a message of the set above t. Then they still waited, because
/// an input loses its oldest messages first, by its depth as well. They make a set with the other
/// messages of it, which begins later and has the same newest message. It is shorter, so this one
/// would not have been formed. So one of these next messages is later than w, or was taken after
/// the set was formed. It is taken within B after t. A stamp is not later than its arrival, so w is
/// at most B after t, with the largest B of all inputs but that of w. This holds for any number of
/// inputs, any periods and any depth.
///
/// The message w that completes the set is limited once more, by its previous one, v, of the same
/// input, and the period of that. Suppose that v is no earlier than t. It did not wait when w
/// arrived, and was not pushed out by w: else the set with v in place of w would have been formed
/// before. So v had left in an earlier set, which took an earlier message of the chain. Suppose
/// that the sync had taken m by then. Take the inputs of that set's messages before t. As above,
/// there is one of them with a next message that is later than v, or was taken after v. It is not
/// the chain's input, nor that of v. So v is at most B after t, with the largest B of the other
/// inputs; or it was taken before m. With two inputs this is the limit above. If there is no v, w
/// is the first message of its input, which the first release of its timer brings. Behind another
/// sync, the period is the longest one of its timers, see NextMessages, and the limit is one of the
/// release that completes that set.
///
/// With two inputs, a message that is no more frequent than those of the other input waits less.
/// Let T be the least time between two messages of the chain, and P, no longer than T and than the
/// window, the longest one of the other. Let w complete the set of m, and v be the message before w
/// of its input. v did not wait when w arrived: it is at most P before w, so in the window of m,
/// and would have made a set with m. So v had left with a message u of the chain, at least T before
/// m. If u completed that set, v had arrived before u, at most A after the stamp of u, where A is
/// the time to arrive. Else v is at most as late after u as some lag before this one. So the lag of
/// m is no longer than A - (T - P), or than the one before, less T - P, or w is the first of its
/// input. So it is at most A - (T - P), or the time to the first release.
///
/// If syncs may take messages in another order than they arrive in, also those of one input, only
/// the window counts: the stamps of a set lie within it in any order. No message need be matched.
///
/// `next`: nullptr if B is not known.
Joins find_joins(const Workload& workload, std::span<const std::size_t> callbacks,
                 const Arrival& arrival, KnownArrivals& known, Taken taken = Taken::kInOrder,
                 NextMessages* next = nullptr);

/// Returns the bound of a chain completed by what its joins imply: reaction and data age, if every
/// message of the chain is matched, and the callbacks that must not lose a message. `bound` must
/// have a value.
RelyingBound relying_bound(const Workload& workload, const model::Chain& chain, ChainBound bound,
                           Joins joins);

/// Returns the begins of all paths to the end of one of the publishers, each with the lowest level
/// of the path, or `level` if that is lower. If paths meet, there is one result for each level.
std::vector<PathStart> paths_to(const Workload& workload,
                                const std::vector<std::size_t>& publishers, int level);

/// Returns all paths to the last of the callbacks; the first one is the chain itself.
std::vector<Way> ways_to_last(const Workload& workload, std::span<const std::size_t> callbacks,
                              const std::vector<Join>& joins);

}  // namespace rclrt::analysis::detail
