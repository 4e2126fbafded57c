// SPDX-License-Identifier: Apache-2.0
// How long it takes until a synchroniser has the next message of an input.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bounds/level_work.hpp"

namespace rclrt::analysis::detail {

/// Returns a bound on the time from a release of the timer or event `source` until the synchroniser
/// `sync` has taken the message that `publisher` sends because of it, if no synchroniser before
/// waits for another release. nullopt without a bound.
using Reach = std::function<std::optional<Ticks>(std::size_t source, std::size_t publisher,
                                                 std::size_t sync)>;

/// Let an input of a synchroniser s have taken a message with a stamp of at most t. For some inputs
/// there is a time B, so that by t + B the first message with a stamp above t has been taken, too:
///
/// B is the largest sum, over all timers and events from which the input's messages come, of the
/// longest time between two releases and of the time that a release needs to reach s. This holds
/// if each callback on the way to s has one publisher for each input, no message is lost on the
/// way, and the window of each synchroniser p on the way is no shorter than B of each input of p.
///
/// Proof, by induction: even, the release that brings the first message above t is no later than
/// the longest time between two releases after t. Without a synchroniser on the way that is so,
/// because each release brings a message with its own stamp. Behind a synchroniser p, t follows the
/// stamp of some set of p, so each input of p has had a message with a stamp of at most t.
/// Suppose that by the largest B of all inputs of p after t, no set with a stamp above t was
/// formed. Then no message above t has left with a set, and each input has taken one. If the
/// matcher's depth has removed some, newer ones remain. At the first time at which all inputs had
/// one, all of these lay between t and that time, so within the window. They, or a set with a
/// shorter interval and with the newest one, would have been formed then. So a first set above t is
/// formed by then. Let g be the message that completes it. If g is the first one above t of its
/// input, the induction bounds its release. If g has a stamp of at most t, its release is no later.
/// Otherwise, before g, its input had a message h above t that is older than g, or newer ones if
/// the depth has removed it. If h lies within the set, the set with h in place of g has an interval
/// that is not longer, and would have been formed before g arrived. If h is older than all of the
/// set, all inputs had messages above t before g arrived, and a set above t would have been formed
/// before this one. Both are contradictions.
///
/// The first message of an input is brought by the first release of one of its timers and events:
/// behind a synchroniser, the first set is complete when the last input has its first message. All
/// others have one that is younger than B then.
class NextMessages {
 public:
  /// Keeps a reference to the workload.
  NextMessages(const Workload& workload, Reach reach)
      : workload_(workload), reach_(std::move(reach)) {}

  /// Returns the largest B of the sync's inputs that are not in `without` (elements of
  /// CallbackGraph::publishers). nullopt: it is not known, or not below `limit`.
  std::optional<Ticks> of_others(std::size_t sync,
                                 std::initializer_list<const std::vector<std::size_t>*> without,
                                 Ticks limit);

  /// Returns the timers and events that an input's messages come from. Its first message is brought
  /// by the first release of one of them, and the next one after any other by a release within the
  /// longest time between two. nullopt: this is not known.
  std::optional<std::vector<std::size_t>> sources(std::size_t sync, std::size_t input);

 private:
  std::optional<Ticks> after(std::size_t sync, std::size_t input);
  std::optional<Ticks> longest_interval(std::size_t sync, std::size_t input) const;
  std::optional<Ticks> find(std::size_t sync, std::size_t input);
  bool add_sources(const std::vector<std::size_t>& input, std::vector<std::size_t>& sources) const;
  bool recurs(const std::vector<std::size_t>& input);

  const Workload& workload_;
  Reach reach_;
  std::map<std::pair<std::size_t, std::size_t>, std::optional<Ticks>> known_;  // by sync and input
};

}  // namespace rclrt::analysis::detail
