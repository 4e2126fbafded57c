// SPDX-License-Identifier: Apache-2.0
// A trace as a file for https://ui.perfetto.dev
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/trace_event.hpp"

namespace rclrt::realtime {

/// Writes all trace events that it receives to a file. The file appears under its name when the
/// tracer ends or `Tracer::remove_sink` is called. If writing failed, the file does not appear; see
/// TracerStatistics.
class RCLRT_REALTIME_EXPORT TraceFile final : public TraceSink {
 public:
  /// Opens the file; `process_name` is for display. Throws std::system_error naming the file.
  RCLRT_SETUP TraceFile(const std::filesystem::path& path, std::string process_name);
  ~TraceFile() override;

  RCLRT_SETUP void write(std::span<const TraceEvent> events,
                         const TraceDictionary& dictionary) override;
  RCLRT_SETUP void pass_done(std::int64_t now_ns, const TraceDictionary& dictionary) override;
  RCLRT_SETUP void finish(const TraceDictionary& dictionary) override;

 private:
  class Implementation;
  const std::unique_ptr<Implementation> implementation_;
};

}  // namespace rclrt::realtime
