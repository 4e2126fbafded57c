// SPDX-License-Identifier: Apache-2.0
// Keeps the last seconds of a trace in memory and writes them to a file when told.
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
  /// Dumps are written here as NAME-1.pftrace, NAME-2.pftrace, ...; a number whose file exists is
  /// skipped. The directory must exist.
  std::filesystem::path directory = ".";
  std::string name = "flight";
  /// How far a dump reaches back before its trigger,
  SaturatingMilliseconds before = std::chrono::milliseconds(5'000);
  /// and beyond it.
  SaturatingMilliseconds after = std::chrono::milliseconds(100);
  /// Bounds the memory: the oldest events go when they exceed it.
  std::size_t max_bytes = std::size_t{16} << 20U;
  /// Requests that come sooner after the last dump's are counted and otherwise ignored.
  SaturatingMilliseconds min_interval = std::chrono::milliseconds(1'000);
  /// Dumps in all; further requests are counted and otherwise ignored.
  std::uint32_t max_dumps = 16;
};

/// What a recorder has done.
struct FlightRecorderStatistics {
  std::uint64_t dumps = 0;   ///< files written
  std::uint64_t merged = 0;  ///< requests shown in a dump that another one caused
  std::uint64_t suppressed =
      0;                     ///< requests ignored: too soon, too many dumps, or too many at once
  std::uint64_t failed = 0;  ///< dumps that could not be written
  std::string last_error;    ///< why the last of them could not; empty: none
  std::filesystem::path last_file;
  std::size_t events = 0;    ///< held now
  std::size_t capacity = 0;  ///< events held at most: max_bytes / sizeof(TraceEvent)
};

/// A sink with a bounded memory. Whoever feeds it (a Tracer, or records of another kind turned into
/// TraceEvents) calls write and pass_done from one thread; a dump is written within pass_done. An
/// error there is counted, never thrown.
///
/// A dump holds the events that ended from `before` its trigger to at least `after` past it,
/// whole, and the spans of TraceKind::kBegin still open then, however long ago they began.
///
/// Cost: copying each event once. Memory: max_bytes, allocated and touched by the constructor, and
/// a twelfth of it and about 200 KiB more while a dump is written.
class RCLRT_REALTIME_EXPORT FlightRecorder final : public TraceSink {
 public:
  /// Throws std::invalid_argument for a max_bytes below one event or a duration that is negative or
  /// more than a year, and std::bad_alloc.
  RCLRT_SETUP explicit FlightRecorder(FlightRecorderOptions options = {});
  ~FlightRecorder() override;

  /// The longest reason of a request in bytes.
  static constexpr std::size_t kMaxReason = 95;

  /// Asks for a dump; the first kMaxReason bytes of `reason` are copied and shown in it.
  /// Requests within `after` of the first one share its dump. Any thread.
  void request_dump(const char* reason) noexcept RCLRT_NONBLOCKING;

  /// Returns the statistics; thread-safe.
  RCLRT_SETUP FlightRecorderStatistics statistics() const;

  RCLRT_SETUP void write(std::span<const TraceEvent> events,
                         const TraceDictionary& dictionary) override;
  RCLRT_SETUP void pass_done(std::int64_t now_ns, const TraceDictionary& dictionary) override;
  /// Writes a dump that is still waiting for its `after`.
  RCLRT_SETUP void finish(const TraceDictionary& dictionary) override;

 private:
  class Implementation;
  const std::unique_ptr<Implementation> implementation_;
};

}  // namespace rclrt::realtime
