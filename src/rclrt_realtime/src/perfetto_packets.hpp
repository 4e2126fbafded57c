// SPDX-License-Identifier: Apache-2.0
// The packets of a Perfetto trace as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "perfetto_fields.hpp"
#include "perfetto_interning.hpp"
#include "protobuf_writer.hpp"
#include "rclrt/realtime/perfetto_writer.hpp"

namespace rclrt::realtime {

/// The content of a track descriptor. At most one of `tid` and `unit` is set.
struct TrackDescription {
  // The initializers let a caller name only some of the members without a warning by GCC.
  // NOLINTBEGIN(readability-redundant-member-init)
  std::uint64_t uuid = 0;
  std::optional<std::uint64_t> parent = {};  ///< none: the process's own track
  std::int64_t rank = 0;                     ///< position among the parent's children
  std::string_view name = {};
  std::optional<std::int32_t> tid = {};
  std::optional<std::string_view> unit = {};
  // NOLINTEND(readability-redundant-member-init)
};

/// Appends packets to bytes(). A function that throws std::invalid_argument appends nothing.
class PerfettoPackets {
 public:
  explicit PerfettoPackets(PerfettoProcess process);

  const PerfettoProcess& process() const { return process_; }

  /// Appends the first packet of a trace.
  void clock_snapshot(const PerfettoClocks& clocks);
  void track(const TrackDescription& track);
  void slice_begin(std::uint64_t track, std::int64_t time_ns, const PerfettoEvent& event);
  void slice_end(std::uint64_t track, std::int64_t time_ns);
  void instant(std::uint64_t track, std::int64_t time_ns, const PerfettoEvent& event);
  void counter(std::uint64_t track, std::int64_t time_ns, double value);

  const std::string& bytes() const { return buffer_.bytes(); }
  void clear() { buffer_.clear(); }

 private:
  template <typename Fill>
  void packet(Fill&& fill);
  template <typename Describe>
  void event(std::uint64_t track, std::int64_t time_ns, perfetto_fields::track_event::Type type,
             Describe&& describe);
  void clock(std::uint64_t id, std::int64_t time_ns);
  void describe(const PerfettoEvent& event);
  void describe(const PerfettoAnnotation& annotation);
  void interned_data();
  std::uint64_t flow_id(std::uint64_t flow) const;

  PerfettoProcess process_;
  ProtobufWriter buffer_;
  InternedStrings categories_{perfetto_fields::interned_data::kEventCategories};
  InternedStrings names_{perfetto_fields::interned_data::kEventNames};
  InternedStrings annotation_names_{perfetto_fields::interned_data::kDebugAnnotationNames};
};

}  // namespace rclrt::realtime
