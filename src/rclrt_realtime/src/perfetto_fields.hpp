// SPDX-License-Identifier: Apache-2.0
// Field numbers and values of the messages of a Perfetto trace that the writer uses, from
// https://perfetto.dev/docs/reference/trace-packet-proto
#pragma once

#include <cstdint>

namespace rclrt::realtime::perfetto_fields {

namespace trace {
inline constexpr std::uint32_t kPacket = 1;
}

namespace packet {
inline constexpr std::uint32_t kClockSnapshot = 6;
inline constexpr std::uint32_t kTimestamp = 8;
inline constexpr std::uint32_t kTrustedPacketSequenceId = 10;
inline constexpr std::uint32_t kTrackEvent = 11;
inline constexpr std::uint32_t kInternedData = 12;
inline constexpr std::uint32_t kSequenceFlags = 13;
inline constexpr std::uint32_t kTimestampClockId = 58;
inline constexpr std::uint32_t kTrackDescriptor = 60;
inline constexpr std::uint32_t kFirstPacketOnSequence = 87;

inline constexpr std::uint64_t kIncrementalStateCleared = 1;  // a sequence flag
inline constexpr std::uint64_t kNeedsIncrementalState = 2;    // a sequence flag
}  // namespace packet

namespace clock_snapshot {
inline constexpr std::uint32_t kClocks = 1;
inline constexpr std::uint32_t kPrimaryTraceClock = 2;
inline constexpr std::uint32_t kClockId = 1;         // of ClockSnapshot.Clock
inline constexpr std::uint32_t kClockTimestamp = 2;  // of ClockSnapshot.Clock

inline constexpr std::uint64_t kMonotonic = 3;  // a BuiltinClock
inline constexpr std::uint64_t kBoottime = 6;   // a BuiltinClock
}  // namespace clock_snapshot

namespace track_descriptor {
inline constexpr std::uint32_t kUuid = 1;
inline constexpr std::uint32_t kName = 2;
inline constexpr std::uint32_t kProcess = 3;
inline constexpr std::uint32_t kThread = 4;
inline constexpr std::uint32_t kParentUuid = 5;
inline constexpr std::uint32_t kCounter = 8;
inline constexpr std::uint32_t kChildOrdering = 11;
inline constexpr std::uint32_t kSiblingOrderRank = 12;

inline constexpr std::uint64_t kExplicitOrdering = 3;  // a ChildTracksOrdering

inline constexpr std::uint32_t kProcessPid = 1;
inline constexpr std::uint32_t kProcessName = 6;
inline constexpr std::uint32_t kThreadPid = 1;
inline constexpr std::uint32_t kThreadTid = 2;
inline constexpr std::uint32_t kThreadName = 5;
inline constexpr std::uint32_t kCounterUnitName = 6;
}  // namespace track_descriptor

namespace track_event {
inline constexpr std::uint32_t kCategoryIids = 3;
inline constexpr std::uint32_t kDebugAnnotations = 4;
inline constexpr std::uint32_t kType = 9;
inline constexpr std::uint32_t kNameIid = 10;
inline constexpr std::uint32_t kTrackUuid = 11;
inline constexpr std::uint32_t kDoubleCounterValue = 44;
inline constexpr std::uint32_t kFlowIds = 47;
inline constexpr std::uint32_t kTerminatingFlowIds = 48;

enum class Type : std::uint64_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };
}  // namespace track_event

namespace debug_annotation {
inline constexpr std::uint32_t kNameIid = 1;
inline constexpr std::uint32_t kIntValue = 4;
inline constexpr std::uint32_t kDoubleValue = 5;
inline constexpr std::uint32_t kStringValue = 6;
}  // namespace debug_annotation

namespace interned_data {
inline constexpr std::uint32_t kEventCategories = 1;
inline constexpr std::uint32_t kEventNames = 2;
inline constexpr std::uint32_t kDebugAnnotationNames = 3;
inline constexpr std::uint32_t kIid = 1;   // of EventCategory, EventName, DebugAnnotationName
inline constexpr std::uint32_t kName = 2;  // of EventCategory, EventName, DebugAnnotationName
}  // namespace interned_data

}  // namespace rclrt::realtime::perfetto_fields
