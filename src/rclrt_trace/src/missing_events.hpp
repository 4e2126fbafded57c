// SPDX-License-Identifier: Apache-2.0
// Finds out where a trace lacks events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ctf_stream.hpp"
#include "trace_reader.hpp"

namespace rclrt::trace {

using Streams = std::vector<std::unique_ptr<ctf::Stream>>;

/// A stream of a trace, which may have several files: its trace and its number.
using StreamKey = std::pair<std::string, std::uint64_t>;

/// The order of the files of each stream. The index of a file is that of its ctf::Stream.
class FileOrder {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  /// The first packet of each stream must have been read.
  FileOrder(const Streams& streams, const std::vector<StreamKey>& keys);

  /// Returns the file before this one; kNone: there is none, or it is not known.
  std::size_t before(std::size_t file) const { return before_[file]; }
  bool is_last(std::size_t file) const { return is_last_[file]; }
  /// Returns the number of packets that are missing between a file and the one before it. A tracer
  /// that keeps the newest events has overwritten them, so they do not count as lost.
  std::uint64_t lost_packets_before(std::size_t file) const;

 private:
  const Streams& streams_;
  std::vector<std::size_t> before_;
  std::vector<bool> is_last_;
};

/// Reports where events are missing: the tracer lost them, or a file is damaged or cut off.
class MissingEvents {
 public:
  /// Returns a time of a stream on the time axis of the events.
  using CommonTime = std::function<std::int64_t(std::size_t stream, std::int64_t time_ns)>;

  MissingEvents(
      const Streams& streams, const FileOrder& files, const std::vector<bool>& of_kernel,
      const std::function<void(const TraceEvent&)>& handle,
      CommonTime common = [](std::size_t, std::int64_t time_ns) { return time_ns; });

  /// Reports what is missing between the stream's latest event and the one at which it is now.
  void before_event(std::size_t number);
  /// Reports that the rest of the stream is missing if its file is cut off, or if the tracer lost
  /// events at the end of the stream.
  void after_last_event(std::size_t number);
  /// Does the same for the last file of a stream, if it has no event that is read. Called after all
  /// events.
  void after_file_without_events(std::size_t number);

 private:
  void begin(std::size_t number);
  std::size_t events_before(std::size_t number) const;
  bool lost_in_first_packet(std::size_t file) const;
  bool lost_before(std::size_t number) const;
  void report_loss(std::size_t number, std::uint64_t time, std::uint64_t until) const;
  void report(std::size_t number, EventKind kind, std::uint64_t time, std::uint64_t until,
              std::uint64_t since) const;

  const Streams& streams_;
  const FileOrder& files_;
  const std::vector<bool>& of_kernel_;
  const std::function<void(const TraceEvent&)>& handle_;
  const CommonTime common_;
  std::vector<std::uint64_t> last_;     // time of each stream's latest event
  std::vector<std::uint64_t> damaged_;  // damaged places up to there
  std::vector<bool> has_begun_;         // the first event of the file was reported
};

}  // namespace rclrt::trace
