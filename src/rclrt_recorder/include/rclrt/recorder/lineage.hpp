// SPDX-License-Identifier: Apache-2.0
// Finds the chain instances that a callback worked for, if its messages do not carry tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <rclrt/model/application.hpp>
#include <span>
#include <string>
#include <vector>

#include "rclrt/recorder/chain_accounting.hpp"
#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

/// Finds out for which instances of chains each recorded instance worked, and sets its tokens. A
/// token identifies one instance of one chain. An instance of a timer starts new tokens; other
/// instances get the tokens of their message's publisher. The publisher is the instance that was
/// running when the message was published (`LoggedInstance::published_ns`) and that publishes on
/// its topic; if there are several, the one that started last. A message from outside the
/// application has no tokens.
///
/// So chains are followed without changes of the message types. There are limits. If a callback
/// publishes a result of one of its earlier instances, the message gets the wrong tokens. Chains
/// through a synchronisation, or from an event, cannot be followed at all (`unfollowed`).
///
/// Also sets the offsets of the timers in `application` to the observed ones, counted from the
/// begin of the window. A timer with releases that are not on a grid becomes one that rebases, so
/// its skipped releases are not counted. (It was reset, its clock is not CLOCK_MONOTONIC, or its
/// period is below 2 us.) A timer that stopped well before the end, or was never released, also
/// becomes one that rebases, because it was not late for later releases. (It was cancelled, its
/// node does not exist any more, or it is in another process.)
///
/// `going_on` states for each callback whether it still existed at the end of the window. The
/// releases of such a timer after its last run count as not served.
///
/// `local_releases_ns`, of a run over several hosts, is the release of each instance on the clock
/// of its own host; empty: `release_ns` is. A timer's grid is regular on that clock only. The
/// releases of such a timer keep their numbers in the grid, and it becomes one that rebases,
/// because its grid is not regular on the common time axis.
RCLRT_RECORDER_EXPORT void follow_chains(model::Application& application, const RunWindow& window,
                                         std::span<LoggedInstance> instances,
                                         const std::vector<bool>& going_on,
                                         std::span<const std::int64_t> local_releases_ns = {});

/// The releases of one timer in a window, as far as ChainFollower needs to know them in advance.
class RCLRT_RECORDER_EXPORT TimerReleases {
 public:
  /// Adds a release, in the order of time. `period_ns`: of the timer.
  void add(std::int64_t release_ns, std::int64_t period_ns);
  /// Adds the releases of another life of the timer.
  void add(const TimerReleases& other, std::int64_t period_ns);

  /// Returns the first release; std::nullopt: there is none.
  std::optional<std::int64_t> first_ns() const { return first_ns_; }
  std::int64_t last_ns() const { return last_ns_; }
  /// Returns whether all of them are whole periods after the first one, within 1 us.
  bool on_grid() const { return on_grid_; }

 private:
  std::optional<std::int64_t> first_ns_;
  std::int64_t last_ns_ = 0;
  bool on_grid_ = true;
};

/// Does the same as follow_chains() for a run of any length, one instance after the other. Not
/// thread-safe.
class RCLRT_RECORDER_EXPORT ChainFollower {
 public:
  /// Sets the offsets and the overruns of the timers in `application`, which must outlive this
  /// object. `releases` has an element for each callback; those of timers count.
  ChainFollower(model::Application& application, const RunWindow& window,
                std::span<const TimerReleases> releases, const std::vector<bool>& going_on);
  /// Follows a run of which the releases are not known in advance; see set_timers().
  explicit ChainFollower(model::Application& application);
  ~ChainFollower();
  ChainFollower(const ChainFollower&) = delete;
  ChainFollower& operator=(const ChainFollower&) = delete;

  /// Sets the tokens of the next instance, in the order of starts. Keeps a reference to it, until
  /// forget(): it may be the publisher of a message of a later one.
  void follow(LoggedInstance& instance);
  /// Follows an instance of another host. `local_release_ns`: see follow_chains().
  void follow(LoggedInstance& instance, std::int64_t local_release_ns);
  /// Forgets an instance, the first ones first.
  void forget(const LoggedInstance& instance);

  /// Takes over callbacks and chains that were added to the application behind the others, and what
  /// callbacks publish now. Throws std::invalid_argument if more chains go through a callback than
  /// can be followed.
  void grow();
  /// Sets the offsets and the overruns of the timers as the releases so far show them; `going_on`
  /// as for follow_chains().
  void set_timers(const RunWindow& window, const std::vector<bool>& going_on);
  /// Returns whether an instance of the callback that is not forgotten ran at that time, within the
  /// error.
  bool ran_at(std::size_t callback, std::int64_t time_ns, std::int64_t error_ns) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the chains that cannot be followed, by their index: those through a synchronisation or
/// from an event.
RCLRT_RECORDER_EXPORT std::vector<std::size_t> unfollowed(const model::Application& application);

/// Removes these chains, by their index, and the cause-effect chains with one of them as a segment.
/// Adds a sentence for each to `notes`.
RCLRT_RECORDER_EXPORT void leave_out_chains(model::Application& application,
                                            std::vector<std::size_t> chains,
                                            std::vector<std::string>& notes);

}  // namespace rclrt::recorder
