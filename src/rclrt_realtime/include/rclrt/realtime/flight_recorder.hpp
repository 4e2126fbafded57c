// SPDX-License-Identifier: Apache-2.0
// Keeps the last seconds of a trace in memory and writes them to a file on request.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "rclrt/realtime/duration.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/trace_event.hpp"

namespace rclrt::realtime {

/// How much is kept, and where dumps go.
struct FlightRecorderOptions {
  /// The directory for the dumps, which must exist. They are called NAME-1.pftrace, NAME-2.pftrace,
  /// and so on; a number is skipped if its file exists.
  std::filesystem::path directory = ".";
  std::string name = "flight";
  /// How far a dump reaches back before its trigger.
  SaturatingMilliseconds before = std::chrono::milliseconds(5'000);
  /// How far a dump reaches beyond its trigger.
  SaturatingMilliseconds after = std::chrono::milliseconds(100);
  /// Bounds the memory: when the events exceed it, the oldest are discarded.
  std::size_t max_bytes = std::size_t{16} << 20U;
  /// The shortest time between the triggers of two dumps. A request that comes earlier after the
  /// trigger of the last dump is counted, and causes no dump.
  SaturatingMilliseconds min_interval = std::chrono::milliseconds(1'000);
  /// The total number of dumps. Further requests are counted and otherwise ignored.
  std::uint32_t max_dumps = 16;
};

/// The counters of a recorder.
struct FlightRecorderStatistics {
  std::uint64_t dumps = 0;   ///< files written
  std::uint64_t merged = 0;  ///< requests shown in the dump of another request
  std::uint64_t suppressed =
      0;                     ///< requests ignored: too soon, too many dumps, or too many at once
  std::uint64_t failed = 0;  ///< dumps that could not be written
  std::string last_error;    ///< error of the last failed dump; empty: none failed
  std::filesystem::path last_file;
  std::size_t events = 0;    ///< held now
  std::size_t capacity = 0;  ///< events held at most: max_bytes / sizeof(TraceEvent)
};

/// Keeps the latest events in bounded memory, and writes them to a file (a dump) on request. Its
/// source (a Tracer, or code that converts other records into TraceEvents) calls `write` and
/// `pass_done` from one thread. A dump is written within `pass_done`. An error while it is written
/// is counted, not thrown.
///
/// A dump contains the complete events that ended in the time from `before` ahead of its trigger to
/// at least `after` past it. It also contains the spans of TraceKind::kBegin that are open at its
/// end, however long ago they began.
///
/// Cost: one copy of each event. Memory: max_bytes, allocated and touched by the constructor. While
/// a dump is written, it uses another twelfth of max_bytes and about 200 KiB.
class RCLRT_REALTIME_EXPORT FlightRecorder final : public TraceSink {
 public:
  /// Throws std::invalid_argument if max_bytes has no room for one event, or if a duration is
  /// negative or more than a year; and std::bad_alloc.
  RCLRT_SETUP explicit FlightRecorder(FlightRecorderOptions options = {});
  ~FlightRecorder() override;

  /// The longest reason of a request in bytes.
  static constexpr std::size_t kMaxReason = 95;

  /// Requests a dump. The first kMaxReason bytes of `reason` are copied, and the dump shows them.
  /// Requests within `after` of the first one share one dump. Thread-safe.
  void request_dump(const char* reason) noexcept RCLRT_NONBLOCKING;

  /// Returns the statistics; thread-safe.
  RCLRT_SETUP FlightRecorderStatistics statistics() const;

  RCLRT_SETUP void write(std::span<const TraceEvent> events,
                         const TraceDictionary& dictionary) override;
  RCLRT_SETUP void pass_done(std::int64_t now_ns, const TraceDictionary& dictionary) override;
  /// Writes the dump that is still waiting for its `after`, if there is one.
  RCLRT_SETUP void finish(const TraceDictionary& dictionary) override;

 private:
  class Implementation;
  const std::unique_ptr<Implementation> implementation_;
};

}  // namespace rclrt::realtime
