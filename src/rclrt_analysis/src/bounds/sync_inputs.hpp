// SPDX-License-Identifier: Apache-2.0
// What is known about the messages that arrive at the inputs of synchronisers.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "bounds/level_work.hpp"
#include "bounds/stamp_sequences.hpp"

namespace rclrt::analysis::detail {

/// An input is given by its publishers.
class SyncInputs {
 public:
  /// Keeps a reference to the workload.
  explicit SyncInputs(const Workload& workload) : workload_(workload) {}

  model::CallbackKind kind(std::size_t callback) const {
    return workload_.application.callbacks[callback].kind();
  }

  /// Returns the timer that this callback is.
  const model::Timer& timer(std::size_t callback) const {
    return std::get<model::Timer>(workload_.application.callbacks[callback].trigger);
  }

  /// Returns whether the callback is a timer that keeps its grid.
  bool is_steady(std::size_t callback) const {
    return keeps_grid(workload_.application.callbacks[callback]);
  }

  /// Returns whether two releases of the callback are always at least an interval apart: it is a
  /// timer that keeps its grid, or an event.
  bool keeps_apart(std::size_t callback) const {
    return is_steady(callback) || kind(callback) == model::CallbackKind::kEvent;
  }

  Ticks min_interval(std::size_t callback) const {
    return model::min_interval(workload_.application.callbacks[callback]).count();
  }

  /// Returns the longest time between two releases of a timer that keeps its grid, or of an event.
  /// nullopt for other callbacks.
  std::optional<Ticks> max_interval(std::size_t callback) const;

  bool states_offset(std::size_t callback) const {
    return stated_offset(workload_.application.callbacks[callback]).has_value();
  }

  std::size_t origin(const std::vector<std::size_t>& input) const {
    return origin_of(workload_, input);
  }

  /// Returns a number that is equal for inputs with the same sequence of messages: one message for
  /// each release of the same timer, with the stamp of that release. Timers of one period and one
  /// stated offset count as the same timer; a sync of such inputs has this sequence again. All
  /// inputs from one other sync have a number of their own. Returns kNoOrigin if a callback on the
  /// way has several publishers.
  std::size_t releases(const std::vector<std::size_t>& input) const;

  /// Returns the timer or event with releases that the messages of an input have, one for each,
  /// with their stamps, if there is one (see releases()). Otherwise returns the same as origin().
  std::size_t source(const std::vector<std::size_t>& input) const;

  /// Returns whether the time of the first release of this timer or event is stated.
  bool states_first(std::size_t callback) const;

  /// Returns a bound on the time from any release of `here` until `there` has had its first release
  /// (timers or events). Returns 0 if `there` states no offset: its first release is then within a
  /// period or longest interval, which the caller adds.
  Ticks first_release(std::size_t here, std::size_t there) const;

  /// Returns whether the stamps of the messages of this timer, event or sync always increase. For a
  /// sync this holds if it holds for each of its inputs, and each input has one publisher, so that
  /// sets are formed in order.
  bool stamps_increase(std::size_t callback) const;

  /// Returns the largest time up to `limit` from a release of `start` to one of `there` that their
  /// stated offsets allow. Returns `limit` if one of them is no timer with a stated offset.
  Ticks allowed_lag(Ticks limit, std::size_t start, std::size_t there) const;

 protected:
  const Workload& workload() const { return workload_; }

 private:
  const Workload& workload_;
};

}  // namespace rclrt::analysis::detail
