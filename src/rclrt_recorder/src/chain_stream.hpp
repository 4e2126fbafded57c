// SPDX-License-Identifier: Apache-2.0
// The results of one chain while the run goes on, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <rclrt/model/application.hpp>
#include <rclrt/model/sync_fates.hpp>
#include <vector>

#include "chain_judge.hpp"
#include "chain_releases.hpp"
#include "rclrt/recorder/chain_accounting.hpp"
#include "rclrt/recorder/host_stall.hpp"
#include "rclrt/recorder/time_distribution.hpp"

namespace rclrt::recorder {

/// Counts the instances of one chain. An instance is open from its release until its status cannot
/// change any more; then it is settled: counted, and handed on. Copyable: a copy can be finished to
/// see the results so far.
class ChainStream {
 public:
  /// The most open instances. If more wait, the oldest ones are settled early, see advance().
  static constexpr std::size_t kMostOpen = 16'384;
  /// An instance that has not completed when this time and twice its deadline have passed since its
  /// release is dropped if a newer one has completed. (An executor with several threads may
  /// complete a newer instance first; it does not take seconds longer for the older one.)
  static constexpr std::int64_t kPatience_ns = 2'000'000'000;

  /// The run began at `start_ns`. `found`: the releases are those of the records, and each number
  /// that the records leave out, see RunStream::find_releases().
  ChainStream(const model::Application& application, std::size_t chain, std::int64_t start_ns,
              bool found);

  /// Takes a run of a callback for an instance of the chain.
  void take(const InstanceRecord& record, const ChainToken& token);

  /// Settles instances. `horizon_ns`: all records that end before it have been taken. `fates`: of
  /// the messages in synchronisers, nullptr if the chain passes through none. Appends the settled
  /// instances to `settled`.
  void advance(std::int64_t horizon_ns, const model::SyncFates* fates, const StallTimeline& stalls,
               std::vector<ChainInstance>& settled);

  /// Adds the releases that followed the last one before `end_ns`, if the releases are found.
  void release_until(std::int64_t end_ns);

  /// Settles all that are left, as at the end of a run: releases from `end_ns` on do not count.
  void finish(std::int64_t end_ns, const model::SyncFates* fates, const StallTimeline& stalls,
              std::vector<ChainInstance>& settled);

  /// Returns the counts and the times of the settled instances, without the list of them.
  ChainResult result() const;

  const TimeDistribution& responses() const { return responses_; }
  /// Returns whether the chain passes through a synchroniser.
  bool has_sync() const { return has_sync_; }
  /// Returns the number of open instances.
  std::size_t open() const { return open_.size(); }
  /// Appends the releases of the open instances.
  void append_open(std::vector<ChainRelease>& releases) const;

 private:
  struct Open {
    std::uint64_t instance = 0;
    std::int64_t release_ns = 0;
    ChainFacts facts;
  };

  void release_before(std::int64_t end_ns);
  void release(const ChainRelease& release);
  bool has_counted(std::uint64_t instance) const;
  void release_between(const ChainRelease& release);
  void note_newer_completions();
  static void note_fate(Open& open, model::SyncFate fate, bool& is_certain);
  void settle(const Open& open, std::int64_t end_ns, const StallTimeline& stalls,
              std::vector<ChainInstance>& settled);
  void limit_open(const StallTimeline& stalls, std::vector<ChainInstance>& settled);
  void decide_waiting(std::uint64_t completed);

  std::size_t chain_;
  std::size_t first_;  // callback
  std::size_t last_;
  std::int64_t start_ns_;
  std::int64_t deadline_ns_;
  bool has_deadline_;
  bool has_sync_ = false;
  bool found_;
  ChainReleases releases_;
  std::deque<Open> open_;  // ascending by instance
  struct Early {           // of an instance that is not open yet
    std::int64_t end_ns = 0;
    std::int64_t release_ns = 0;
  };
  std::map<std::uint64_t, Early> early_;
  std::optional<std::uint64_t> last_released_;   // the newest instance so far
  std::int64_t last_release_ns_ = 0;             // of it
  std::optional<std::uint64_t> first_released_;  // the oldest instance
  std::optional<std::uint64_t> newest_settled_;
  std::optional<std::uint64_t> newest_completed_;  // among the settled ones
  std::uint64_t waiting_ = 0;                      // oldest ones, no longer among the open ones
  std::optional<ChainRelease> last_waiting_;       // the newest of them
  ChainResult counts_;
  TimeDistribution responses_;
};

}  // namespace rclrt::recorder
