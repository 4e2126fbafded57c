// SPDX-License-Identifier: Apache-2.0
// Writes a Perfetto trace, which https://ui.perfetto.dev shows: tracks with slices, instants,
// counters and flow arrows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Identifies the process that writes a trace. Traces with different `uuid_base` and `sequence_id`
/// may be concatenated byte by byte into one trace.
struct PerfettoProcess {
  std::string name;
  std::int32_t pid = 0;
  /// `trusted_packet_sequence_id` of every packet. Not 0.
  std::uint32_t sequence_id = 0;
  /// Upper half of the ids of tracks and flows: its lower 32 bits must be 0.
  std::uint64_t uuid_base = 0;
};

/// Returns the identification of this process, with `name` for display and random ids. Throws
/// std::system_error if the system has no random numbers.
RCLRT_REALTIME_EXPORT RCLRT_SETUP PerfettoProcess this_perfetto_process(std::string name);

/// One instant on both clocks, from which a reader converts between them.
struct PerfettoClocks {
  std::int64_t monotonic_ns = 0;
  std::int64_t boottime_ns = 0;
};

RCLRT_REALTIME_EXPORT RCLRT_SETUP PerfettoClocks read_perfetto_clocks();

/// A track of one PerfettoWriter.
enum class PerfettoTrack : std::uint64_t {};

/// A named value, shown when its slice or instant is selected.
struct PerfettoAnnotation {
  std::string_view name;
  std::variant<std::int64_t, double, std::string_view> value;
};

/// The attributes of a slice or instant. The strings are copied.
struct PerfettoEvent {
  // The initializers let a caller name only some of the members without a warning by GCC.
  // NOLINTBEGIN(readability-redundant-member-init)
  std::string_view name;
  std::string_view category = {};  ///< none when empty
  /// The numbers of the flows to which this event belongs (1 to 2^32 - 1, unique within the
  /// writer). Perfetto draws an arrow from each event of a flow to the next one in time.
  std::vector<std::uint64_t> flows = {};
  std::vector<std::uint64_t> ended_flows = {};  ///< flows that end at this event
  std::vector<PerfettoAnnotation> annotations = {};
  // NOLINTEND(readability-redundant-member-init)
};

/// Writes one trace. Times are CLOCK_MONOTONIC nanoseconds, not negative; events may come in any
/// order of time, except that a slice must begin before it ends.
///
/// For set-up and export only, never for a real-time thread: every function may allocate, block on
/// the file and throw. Not thread-safe.
///
/// Errors: std::system_error when writing fails (the text names the file), std::invalid_argument
/// for an id or time out of range, std::logic_error for an event on a track that cannot have it.
class RCLRT_REALTIME_EXPORT PerfettoWriter {
 public:
  /// Writes to a new file beside `path`; finish() gives it that name, replacing what was there.
  RCLRT_SETUP PerfettoWriter(const std::filesystem::path& path, const PerfettoProcess& process,
                             const PerfettoClocks& clocks = read_perfetto_clocks());

  /// Writes to `out`, which must outlive the writer.
  RCLRT_SETUP PerfettoWriter(std::ostream& out, const PerfettoProcess& process,
                             const PerfettoClocks& clocks = read_perfetto_clocks());

  /// Leaves nothing at the path if finish() was not called.
  ~PerfettoWriter();

  PerfettoWriter(const PerfettoWriter&) = delete;
  PerfettoWriter& operator=(const PerfettoWriter&) = delete;

  /// Returns the track of the process itself: the parent of all others unless they name another.
  RCLRT_SETUP PerfettoTrack process_track() const;

  /// Adds a track for an operating-system thread of the process.
  RCLRT_SETUP PerfettoTrack add_thread_track(std::string_view name, std::int32_t tid);

  /// Adds a track below `parent`, and returns it. Tracks below one parent are shown in the order of
  /// their creation; those with the same name are shown as one.
  RCLRT_SETUP PerfettoTrack add_track(std::string_view name, PerfettoTrack parent);
  RCLRT_SETUP PerfettoTrack add_track(std::string_view name);

  /// Adds a track of a value over time, in `unit`.
  RCLRT_SETUP PerfettoTrack add_counter_track(std::string_view name, std::string_view unit,
                                              PerfettoTrack parent);

  /// Begins a slice within those open on `track`.
  RCLRT_SETUP void begin_slice(PerfettoTrack track, std::int64_t time_ns,
                               const PerfettoEvent& event);

  /// Ends the slice begun last on `track`.
  RCLRT_SETUP void end_slice(PerfettoTrack track, std::int64_t time_ns);

  /// Writes an event without duration.
  RCLRT_SETUP void instant(PerfettoTrack track, std::int64_t time_ns, const PerfettoEvent& event);

  /// Writes the value of a counter track from `time_ns` on.
  RCLRT_SETUP void counter(PerfettoTrack track, std::int64_t time_ns, double value);

  /// Completes the trace. A slice that is still open lasts to the end of the trace. After this call
  /// only the destructor may be called.
  RCLRT_SETUP void finish();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace rclrt::realtime
