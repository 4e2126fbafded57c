// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/trace_file.hpp"

#include <utility>

#include "rclrt/realtime/perfetto_writer.hpp"
#include "trace_export.hpp"

namespace rclrt::realtime {

class TraceFile::Implementation {
 public:
  Implementation(const std::filesystem::path& path, std::string process_name)
      : writer(path, this_perfetto_process(std::move(process_name))), events(writer) {}

  PerfettoWriter writer;
  TraceExport events;
};

TraceFile::TraceFile(const std::filesystem::path& path, std::string process_name)
    : implementation_(std::make_unique<Implementation>(path, std::move(process_name))) {}

TraceFile::~TraceFile() = default;

void TraceFile::write(std::span<const TraceEvent> events, const TraceDictionary& dictionary) {
  implementation_->events.write(events, dictionary);
}

void TraceFile::pass_done(std::int64_t, const TraceDictionary&) {}

void TraceFile::finish(const TraceDictionary&) { implementation_->writer.finish(); }

}  // namespace rclrt::realtime
