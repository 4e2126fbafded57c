// SPDX-License-Identifier: Apache-2.0
// The results of a recording of any length, of an application that is found meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/host_stall.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/results.hpp"
#include "rclrt/recorder/run_stream.hpp"

namespace rclrt::recorder {

/// Makes the results of a recording from its instances while it goes on, with the part of the
/// application that is known by then: a RunStream that streams from its first instance, so its
/// memory does not depend on the length of the recording.
///
/// Callbacks and chains that appear later are added behind the others, and count from then on.
/// Chains are followed as follow_chains() does it, one instance after the other, in the order of
/// their starts: an instance waits for a second, in which those that started before it have ended.
/// An instance that runs longer is not found as the publisher of a message.
///
/// If the chains are in no file (`finds_chains`), it also finds out what the callbacks publish, as
/// find_publications() does it, with the latest 256 messages of each topic; and it adds the chains
/// of add_age_chains() as soon as 50 messages of each of their topics have shown the publishers.
///
/// Not thread-safe, and for a thread at normal priority: it allocates and takes its time.
class RCLRT_RECORDER_EXPORT RecordingStream {
 public:
  /// Makes the stream of a recording that has begun. `frame` is as for RunStream, and the stream
  /// changes its application: offsets and overruns of timers, and what it finds of chains. `cpus`
  /// is as for account(). `limits.keep_all` is not used. Throws std::invalid_argument if more
  /// chains go through a callback than can be followed.
  RecordingStream(RunResults& frame, std::size_t cpus, bool finds_chains,
                  const StreamLimits& limits = {});
  ~RecordingStream();
  RecordingStream(const RecordingStream&) = delete;
  RecordingStream& operator=(const RecordingStream&) = delete;

  /// Takes over nodes, callbacks and chains that were added to the frame's application behind the
  /// others, and what else changed there; `of_node` as for find_publications().
  void grow(const std::vector<std::set<std::string>>& of_node = {});

  /// Takes instances of callbacks that the application has, about in the order of their ends.
  void add(std::span<const LoggedInstance> instances);

  /// Takes stalls of the host, once each.
  void add_stalls(std::span<const HostStall> stalls);

  /// Returns the time up to which everything is counted: no instance that started before it waits.
  /// Settles what is certain by then. `now_ns`: instances that ended more than half a second before
  /// this time were added. So time goes on for a robot that hangs, too; without it, time goes on
  /// with the instances only.
  std::int64_t advance(std::int64_t now_ns = 0);

  /// Sets what RunStream::fill() sets, as if the recording had ended at `results.window.end_ns`,
  /// and the application. `going_on` as for follow_chains(). The recording goes on.
  void fill(RunResults& results, const std::vector<bool>& going_on, std::size_t latest = SIZE_MAX);

  /// Sets the same at the end of the recording. Call nothing else afterwards.
  void finish(RunResults& results, const std::vector<bool>& going_on);

  /// Returns the number of counted instances.
  std::uint64_t instances() const;

  /// Returns whether a way to a callback with a largest age is no chain, because too many go
  /// through one of its callbacks.
  bool skips_chains() const;

  /// Returns how many instances and messages it holds: the memory that may grow.
  struct Held {
    RunStream::Held run{};
    std::size_t waiting = 0;
    std::size_t publishers = 0;  ///< instances that may have published a message
    std::size_t messages = 0;
  };
  Held held() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rclrt::recorder
