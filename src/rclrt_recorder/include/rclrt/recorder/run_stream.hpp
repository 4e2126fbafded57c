// SPDX-License-Identifier: Apache-2.0
// The results of a run of any length, in bounded memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <rclrt/model/application.hpp>
#include <span>
#include <vector>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/host_stall.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// How much a run keeps of its instances.
struct StreamLimits {
  /// A run with at most so many instances of callbacks keeps all of them: some 500 bytes each,
  /// twice while the files are written. A longer run streams.
  std::size_t keep_all = 1'000'000;
  /// A run that streams keeps so many of the latest instances. With them it explains misses.
  std::size_t latest = 49'152;
  /// It counts so many new ones before it lets go of the oldest.
  std::size_t step = 16'384;
  /// The most instances of callbacks that are kept around one of the worst instances of a chain.
  std::size_t around = 64;

  /// The number of longest instances of each chain that are kept with the instances around them;
  /// as many more of those that never ended.
  static constexpr std::size_t kWorst = 10;
};

/// Returns how many instances of callbacks a run of `duration` is expected to have: those of timers
/// and events, and one for each message that they cause.
RCLRT_RECORDER_EXPORT std::uint64_t expected_instances(const model::Application& application,
                                                       std::chrono::nanoseconds duration);

/// Makes the results of a run from its instances while it goes on.
///
/// Up to StreamLimits::keep_all instances it only collects them, and the results are exactly those
/// of account(). With more, it streams: it counts each instance and lets go of it, and its memory
/// does not depend on the length of the run. It then keeps
/// - for each chain, and for each callback three times: counts, and a TimeDistribution. Number,
///   best, worst and mean are exact, percentiles are at most 0.1 % too large;
/// - the ten longest instances of each chain, and ten that never ended, each with what ran
///   meanwhile and, if it missed its deadline, with the explanation;
/// - the latest instances, as a ring.
///
/// An instance of a chain is settled when its status is certain: it completed, or a synchroniser
/// left it over, or a newer one completed and 2 s (twice the deadline, if that is longer) have
/// passed since its release. If it completes even later, it nevertheless counts as dropped; a run
/// that keeps all instances counts it as late. This is the only difference in the counts.
///
/// Not thread-safe, and for a thread at normal priority: it allocates and takes its time.
class RCLRT_RECORDER_EXPORT RunStream {
 public:
  /// Reads application, executor, kernel priorities, context and the start of the window of
  /// `frame`, which must outlive this object. `cpus` as for account().
  RunStream(const RunResults& frame, std::size_t cpus, const StreamLimits& limits = {});
  ~RunStream();
  RunStream(const RunStream&) = delete;
  RunStream& operator=(const RunStream&) = delete;

  /// Streams from now on, however few instances there are. Allocates what it needs for that.
  void stream();

  /// Finds the releases of timers in the instances, of which the application is not known in
  /// advance: the first callback of a chain shows its releases. A number that it leaves out is a
  /// release for which it did not run. Releases after the last one of a timer that does not rebase
  /// (model::Timer::overrun, read by fill() and finish()) count up to the end. Call it before
  /// add().
  void find_releases();

  /// Takes over callbacks and chains that were added to the frame's application behind the others,
  /// and what else changed there. The frame's list of kernel priorities has grown as well.
  void grow();

  /// Returns whether it streams.
  bool streams() const;

  /// Takes instances, about in the order of their ends.
  void add(std::span<const LoggedInstance> instances);

  /// Takes stalls of the host, once each.
  void add_stalls(std::span<const HostStall> stalls);

  /// Settles what is certain now. All instances that ended before `horizon_ns` have been added.
  /// Call it about once a second; not needed as long as snapshots are not wanted and nothing
  /// streams.
  void advance(std::int64_t horizon_ns);

  /// Returns the number of instances so far.
  std::uint64_t instances() const;

  /// Sets in `results` what account() sets, and `streamed`, as if the run had ended at
  /// `results.window.end_ns`. If `results` has no counts of callbacks, sets those of the instances.
  /// Keeps `latest` of the latest instances at most. The run goes on. `results` has the same
  /// application and executor as the frame.
  void fill(RunResults& results, std::size_t latest = SIZE_MAX);

  /// Sets the same at the end of the run, with all instances if it does not stream. Call nothing
  /// else afterwards.
  void finish(RunResults& results);

  /// Returns how many instances of callbacks and chains, and how many counters it holds: the
  /// memory that may grow.
  struct Held {
    std::size_t records = 0;
    std::size_t chain_instances = 0;
    std::size_t counters = 0;
  };
  Held held() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rclrt::recorder
