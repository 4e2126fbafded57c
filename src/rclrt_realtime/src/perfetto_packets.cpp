// SPDX-License-Identifier: Apache-2.0
#include "perfetto_packets.hpp"

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <variant>

namespace rclrt::realtime {

namespace fields = perfetto_fields;
using fields::track_event::Type;

namespace {

constexpr std::uint64_t kLocalIds = std::uint64_t{1} << 32U;

void require_time(std::int64_t time_ns) {
  if (time_ns < 0) {
    throw std::invalid_argument(
        "the time of an event in a Perfetto trace must not be negative, as " +
        std::to_string(time_ns) + " ns");
  }
}

}  // namespace

PerfettoPackets::PerfettoPackets(PerfettoProcess process) : process_(std::move(process)) {
  if (process_.sequence_id == 0) {
    throw std::invalid_argument("Perfetto sequence id 0 is reserved; expected 1 or more");
  }
  if (process_.uuid_base % kLocalIds != 0) {
    throw std::invalid_argument("the lower 32 bits of a Perfetto uuid base must be 0");
  }
}

template <typename Fill>
void PerfettoPackets::packet(Fill&& fill) {
  const std::size_t start = buffer_.bytes().size();
  try {
    buffer_.message(fields::trace::kPacket, [&] {
      fill();
      buffer_.unsigned_integer(fields::packet::kTrustedPacketSequenceId, process_.sequence_id);
    });
  } catch (...) {
    buffer_.truncate(start);
    throw;
  }
}

void PerfettoPackets::clock(std::uint64_t id, std::int64_t time_ns) {
  require_time(time_ns);
  buffer_.message(fields::clock_snapshot::kClocks, [&] {
    buffer_.unsigned_integer(fields::clock_snapshot::kClockId, id);
    buffer_.signed_integer(fields::clock_snapshot::kClockTimestamp, time_ns);
  });
}

// The trace's own clock is MONOTONIC, so the reader shows its times without conversion. The
// snapshot also contains the time of BOOTTIME, Perfetto's usual clock, so that a reader can merge
// this trace with others.
void PerfettoPackets::clock_snapshot(const PerfettoClocks& clocks) {
  packet([&] {
    buffer_.message(fields::packet::kClockSnapshot, [&] {
      clock(fields::clock_snapshot::kMonotonic, clocks.monotonic_ns);
      clock(fields::clock_snapshot::kBoottime, clocks.boottime_ns);
      buffer_.unsigned_integer(fields::clock_snapshot::kPrimaryTraceClock,
                               fields::clock_snapshot::kMonotonic);
    });
    buffer_.unsigned_integer(fields::packet::kSequenceFlags,
                             fields::packet::kIncrementalStateCleared);
    buffer_.unsigned_integer(fields::packet::kFirstPacketOnSequence, 1);
  });
}

void PerfettoPackets::track(const TrackDescription& track) {
  namespace descriptor = fields::track_descriptor;
  const auto process = [&] {
    buffer_.signed_integer(descriptor::kProcessPid, process_.pid);
    buffer_.string(descriptor::kProcessName, process_.name);
  };
  const auto thread = [&] {
    buffer_.signed_integer(descriptor::kThreadPid, process_.pid);
    buffer_.signed_integer(descriptor::kThreadTid, *track.tid);
    buffer_.string(descriptor::kThreadName, track.name);
  };
  packet([&] {
    buffer_.message(fields::packet::kTrackDescriptor, [&] {
      buffer_.unsigned_integer(descriptor::kUuid, track.uuid);
      if (track.tid) {
        buffer_.message(descriptor::kThread, thread);
      } else if (track.parent) {
        buffer_.string(descriptor::kName, track.name);
      } else {
        buffer_.message(descriptor::kProcess, process);
      }
      if (track.unit) {
        buffer_.message(descriptor::kCounter,
                        [&] { buffer_.string(descriptor::kCounterUnitName, *track.unit); });
      }
      if (track.parent) {
        buffer_.unsigned_integer(descriptor::kParentUuid, *track.parent);
        buffer_.signed_integer(descriptor::kSiblingOrderRank, track.rank);
      }
      buffer_.unsigned_integer(descriptor::kChildOrdering, descriptor::kExplicitOrdering);
    });
  });
}

template <typename Describe>
void PerfettoPackets::event(std::uint64_t track, std::int64_t time_ns, Type type,
                            Describe&& describe_event) {
  require_time(time_ns);
  packet([&] {
    buffer_.signed_integer(fields::packet::kTimestamp, time_ns);
    buffer_.message(fields::packet::kTrackEvent, [&] {
      buffer_.unsigned_integer(fields::track_event::kType, static_cast<std::uint64_t>(type));
      buffer_.unsigned_integer(fields::track_event::kTrackUuid, track);
      describe_event();
    });
    interned_data();
    buffer_.unsigned_integer(fields::packet::kSequenceFlags,
                             fields::packet::kNeedsIncrementalState);
    buffer_.unsigned_integer(fields::packet::kTimestampClockId, fields::clock_snapshot::kMonotonic);
  });
}

void PerfettoPackets::slice_begin(std::uint64_t track, std::int64_t time_ns,
                                  const PerfettoEvent& event_described) {
  event(track, time_ns, Type::kSliceBegin, [&] { describe(event_described); });
}

void PerfettoPackets::slice_end(std::uint64_t track, std::int64_t time_ns) {
  event(track, time_ns, Type::kSliceEnd, [] {});
}

void PerfettoPackets::instant(std::uint64_t track, std::int64_t time_ns,
                              const PerfettoEvent& event_described) {
  event(track, time_ns, Type::kInstant, [&] { describe(event_described); });
}

void PerfettoPackets::counter(std::uint64_t track, std::int64_t time_ns, double value) {
  event(track, time_ns, Type::kCounter,
        [&] { buffer_.floating(fields::track_event::kDoubleCounterValue, value); });
}

void PerfettoPackets::describe(const PerfettoEvent& event) {
  buffer_.unsigned_integer(fields::track_event::kNameIid, names_.number_of(event.name));
  if (!event.category.empty()) {
    buffer_.unsigned_integer(fields::track_event::kCategoryIids,
                             categories_.number_of(event.category));
  }
  for (const std::uint64_t flow : event.flows) {
    buffer_.fixed64(fields::track_event::kFlowIds, flow_id(flow));
  }
  for (const std::uint64_t flow : event.ended_flows) {
    buffer_.fixed64(fields::track_event::kTerminatingFlowIds, flow_id(flow));
  }
  for (const PerfettoAnnotation& annotation : event.annotations) {
    buffer_.message(fields::track_event::kDebugAnnotations, [&] { describe(annotation); });
  }
}

void PerfettoPackets::describe(const PerfettoAnnotation& annotation) {
  namespace field = fields::debug_annotation;
  buffer_.unsigned_integer(field::kNameIid, annotation_names_.number_of(annotation.name));
  if (const auto* integer = std::get_if<std::int64_t>(&annotation.value)) {
    buffer_.signed_integer(field::kIntValue, *integer);
  } else if (const auto* floating = std::get_if<double>(&annotation.value)) {
    buffer_.floating(field::kDoubleValue, *floating);
  } else {
    buffer_.string(field::kStringValue, std::get<std::string_view>(annotation.value));
  }
}

void PerfettoPackets::interned_data() {
  if (!categories_.has_new() && !names_.has_new() && !annotation_names_.has_new()) {
    return;
  }
  buffer_.message(fields::packet::kInternedData, [&] {
    categories_.write_new(buffer_);
    names_.write_new(buffer_);
    annotation_names_.write_new(buffer_);
  });
}

std::uint64_t PerfettoPackets::flow_id(std::uint64_t flow) const {
  if (flow == 0 || flow >= kLocalIds) {
    throw std::invalid_argument("a Perfetto flow is numbered from 1 to 2^32 - 1, not " +
                                std::to_string(flow));
  }
  return process_.uuid_base + flow;
}

}  // namespace rclrt::realtime
