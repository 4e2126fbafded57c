// SPDX-License-Identifier: Apache-2.0
// Whole packets byte by byte: field numbers from the Perfetto reference, encoding from protobuf's.
// perfetto_writer_test.py reads a larger trace with Perfetto's own classes.
#include "rclrt/realtime/perfetto_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "perfetto_process.hpp"

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr std::uint64_t kBase = std::uint64_t{1} << 32U;

auto invalid_argument(const char* text) {
  return ThrowsMessage<std::invalid_argument>(HasSubstr(text));
}
auto logic_error(const char* text) { return ThrowsMessage<std::logic_error>(HasSubstr(text)); }

std::string bytes(std::initializer_list<int> values) {
  std::string result;
  for (const int value : values) {
    result.push_back(static_cast<char>(value));
  }
  return result;
}

/// Returns the bytes that `use` adds to a trace after those that its set-up `prepare` has written.
template <typename Prepare, typename Use>
std::string added_by(Prepare prepare, Use use) {
  const auto written = [&](bool with_use) {
    std::ostringstream out;
    PerfettoWriter writer(out, process(), kClocks);
    const auto prepared = prepare(writer);
    if (with_use) {
      use(writer, prepared);
    }
    writer.finish();
    return out.str();
  };
  const std::string before = written(false);
  const std::string all = written(true);
  EXPECT_EQ(all.substr(0, before.size()), before);
  return all.substr(before.size());
}

const auto kNothing = [](PerfettoWriter& writer) { return writer.process_track(); };
const auto kTrackNamedT = [](PerfettoWriter& writer) { return writer.add_track("t"); };

TEST(PerfettoWriter, StartsWithTheClocksAndTheProcess) {
  std::ostringstream out;
  PerfettoWriter writer(out, process(), kClocks);
  writer.finish();
  EXPECT_EQ(out.str(), bytes({
                           0x0A, 0x17,                      // packet, 23 bytes
                           0x32, 0x0E,                      // 6 clock_snapshot, 14 bytes
                           0x0A, 4,    0x08, 3,   0x10, 1,  // clocks: id 3 MONOTONIC at 1 ns
                           0x0A, 4,    0x08, 6,   0x10, 2,  // clocks: id 6 BOOTTIME at 2 ns
                           0x10, 3,                         // primary_trace_clock MONOTONIC
                           0x68, 1,                         // 13 sequence_flags: state cleared
                           0xB8, 0x05, 1,                   // 87 first_packet_on_sequence
                           0x50, 5,                         // 10 trusted_packet_sequence_id
                           0x0A, 0x13,                      // packet, 19 bytes
                           0xE2, 0x03, 0x0E,                // 60 track_descriptor, 14 bytes
                           0x08, 1,                         // uuid = base + 1
                           0x1A, 8,                         // process, 8 bytes
                           0x08, 0xAC, 0x02,                // pid 300 = 10 0101100b
                           0x32, 3,    'a',  'p', 'p',      // process_name
                           0x58, 3,                         // 11 child_ordering EXPLICIT
                           0x50, 5,                         // sequence id
                       }));
}

TEST(PerfettoWriter, DescribesATrackByItsParentAndItsPlaceAmongItsSiblings) {
  EXPECT_EQ(
      added_by(kTrackNamedT, [](PerfettoWriter& writer, PerfettoTrack) { writer.add_track("u"); }),
      bytes({
          0x0A,
          0x10,  // packet, 16 bytes
          0xE2,
          0x03,
          0x0B,  // 60 track_descriptor, 11 bytes
          0x08,
          3,  // uuid: after process and "t"
          0x12,
          1,
          'u',  // name
          0x28,
          1,  // 5 parent_uuid: the process
          0x60,
          1,  // 12 sibling_order_rank: "t" has 0
          0x58,
          3,
          0x50,
          5,  // child_ordering EXPLICIT, sequence id
      }));
}

TEST(PerfettoWriter, DescribesAThreadByItsProcessAndThreadId) {
  EXPECT_EQ(added_by(kNothing, [](PerfettoWriter& writer,
                                  PerfettoTrack) { writer.add_thread_track("w", 301); }),
            bytes({
                0x0A, 0x18,        // packet, 24 bytes
                0xE2, 0x03, 0x13,  // 60 track_descriptor, 19 bytes
                0x08, 2,           // uuid
                0x22, 9,           // 4 thread, 9 bytes
                0x08, 0xAC, 0x02,  // pid 300
                0x10, 0xAD, 0x02,  // tid 301
                0x2A, 1,    'w',   // thread_name
                0x28, 1,    0x60, 0, 0x58, 3, 0x50, 5,
            }));
}

TEST(PerfettoWriter, DescribesACounterTrackByItsUnit) {
  EXPECT_EQ(added_by(kNothing,
                     [](PerfettoWriter& writer, PerfettoTrack process) {
                       writer.add_counter_track("q", "ms", process);
                     }),
            bytes({
                0x0A, 0x16,                      // packet, 22 bytes
                0xE2, 0x03, 0x11,                // 60 track_descriptor, 17 bytes
                0x08, 2,    0x12, 1, 'q',        // uuid, name
                0x42, 4,    0x32, 2, 'm',  's',  // 8 counter: unit_name
                0x28, 1,    0x60, 0, 0x58, 3,   0x50, 5,
            }));
}

TEST(PerfettoWriter, WritesAnEventsNewStringsInItsOwnPacket) {
  const PerfettoEvent event{
      .name = "n", .category = "c", .flows = {7}, .ended_flows = {8}, .annotations = {{"a", -1}}};
  EXPECT_EQ(
      added_by(kTrackNamedT, [&](PerfettoWriter& writer,
                                 PerfettoTrack track) { writer.begin_slice(track, 1000, event); }),
      bytes({
          0x0A, 0x4E,        // packet: 3 + 45 + 23 + 2 + 3 + 2 = 78
          0x40, 0xE8, 0x07,  // 8 timestamp 1000 = 111 1101000b
          0x5A, 0x2B,        // 11 track_event, 43 bytes
          0x48, 1,           // type SLICE_BEGIN
          0x58, 2,           // track_uuid
          0x50, 1,           // name_iid
          0x18, 1,           // category_iids
          0xF9, 0x02, 7,    0,    0,    0,    0,    0, 0, 0,  // 47 flow_ids
          0x81, 0x03, 8,    0,    0,    0,    0,    0, 0, 0,  // 48 terminating_flow_ids
          0x22, 0x0D, 0x08, 1,                                // 4 debug_annotations: name_iid 1,
          0x20, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,                 //   int_value -1
          0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0x62, 0x15,           // 12 interned_data, 21 bytes
          0x0A, 5,    0x08, 1,    0x12, 1,    'c',            // event_categories: iid 1
          0x12, 5,    0x08, 1,    0x12, 1,    'n',            // event_names: iid 1
          0x1A, 5,    0x08, 1,    0x12, 1,    'a',            // debug_annotation_names: iid 1
          0x68, 2,                                            // sequence_flags: needs the state
          0xD0, 0x03, 3,                                      // 58 timestamp_clock_id MONOTONIC
          0x50, 5,
      }));
}

TEST(PerfettoWriter, WritesAKnownStringAsItsNumberOnly) {
  const auto one_instant = [](PerfettoWriter& writer) {
    const PerfettoTrack track = writer.add_track("t");
    writer.instant(track, 1, {.name = "n"});
    return track;
  };
  EXPECT_EQ(
      added_by(one_instant, [](PerfettoWriter& writer,
                               PerfettoTrack track) { writer.instant(track, 2, {.name = "n"}); }),
      bytes({0x0A, 0x11, 0x40, 2,                 // packet, timestamp
             0x5A, 6, 0x48, 3, 0x58, 2, 0x50, 1,  // INSTANT, track, name_iid 1
             0x68, 2, 0xD0, 0x03, 3, 0x50, 5}));
}

TEST(PerfettoWriter, EndsASliceWithNothingButItsTrack) {
  const auto open_slice = [](PerfettoWriter& writer) {
    const PerfettoTrack track = writer.add_track("t");
    writer.begin_slice(track, 1, {.name = "n"});
    return track;
  };
  EXPECT_EQ(added_by(open_slice, [](PerfettoWriter& writer,
                                    PerfettoTrack track) { writer.end_slice(track, 127); }),
            bytes({0x0A, 0x0F, 0x40, 127, 0x5A, 4, 0x48, 2, 0x58, 2,  // SLICE_END
                   0x68, 2, 0xD0, 0x03, 3, 0x50, 5}));
}

TEST(PerfettoWriter, WritesACounterValueAsADouble) {
  const auto counter_track = [](PerfettoWriter& writer) {
    return writer.add_counter_track("q", "ms", writer.process_track());
  };
  EXPECT_EQ(added_by(counter_track, [](PerfettoWriter& writer,
                                       PerfettoTrack track) { writer.counter(track, 1, 1.0); }),
            bytes({0x0A, 0x19, 0x40, 1,    0x5A, 0x0E, 0x48, 4, 0x58, 2,     // COUNTER
                   0xE1, 0x02, 0,    0,    0,    0,    0,    0, 0xF0, 0x3F,  // 44: 1.0
                   0x68, 2,    0xD0, 0x03, 3,    0x50, 5}));
}

TEST(PerfettoWriter, KeepsTheIdsOfTwoTracesApartByTheirBases) {
  const auto trace = [](std::uint64_t base) {
    std::ostringstream out;
    PerfettoWriter writer(out, {.name = "app", .pid = 1, .sequence_id = 5, .uuid_base = base},
                          kClocks);
    const PerfettoTrack track = writer.process_track();
    writer.instant(track, 1, {.name = "n", .flows = {1}});
    writer.finish();
    return std::pair(track, out.str());
  };
  const auto [first_track, first] = trace(kBase);
  const auto [second_track, second] = trace(2 * kBase);
  EXPECT_EQ(static_cast<std::uint64_t>(first_track), kBase + 1);
  EXPECT_EQ(static_cast<std::uint64_t>(second_track), 2 * kBase + 1);
  EXPECT_THAT(first, HasSubstr(bytes({0xF9, 0x02, 1, 0, 0, 0, 1, 0, 0, 0})));
  EXPECT_THAT(second, HasSubstr(bytes({0xF9, 0x02, 1, 0, 0, 0, 2, 0, 0, 0})));
}

TEST(PerfettoWriter, DrawsOtherIdsForEachTraceOfAProcess) {
  const PerfettoProcess first = this_perfetto_process("app");
  const PerfettoProcess second = this_perfetto_process("app");
  EXPECT_EQ(first.pid, getpid());
  EXPECT_NE(first.sequence_id, second.sequence_id);
  EXPECT_NE(first.uuid_base, second.uuid_base);
  EXPECT_EQ(first.uuid_base % kBase, 0U);
}

TEST(PerfettoWriter, RefusesIdsThatWouldClash) {
  std::ostringstream out;
  EXPECT_THAT(
      [&] { PerfettoWriter(out, {.name = "", .pid = 1, .sequence_id = 0, .uuid_base = 0}); },
      invalid_argument("Perfetto sequence id 0 is reserved"));
  EXPECT_THAT(
      [&] {
        PerfettoWriter(out, {.name = "", .pid = 1, .sequence_id = 1, .uuid_base = kBase + 1});
      },
      invalid_argument("the lower 32 bits of a Perfetto uuid base must be 0"));
}

TEST(PerfettoWriter, RefusesAnEndWithoutABegin) {
  std::ostringstream out;
  PerfettoWriter writer(out, process(), kClocks);
  EXPECT_THAT(
      [&] { writer.end_slice(writer.process_track(), 1); },
      logic_error("a slice ends on a Perfetto track on which no slice is open; begin one first"));
}

TEST(PerfettoWriter, RefusesAValueOnASliceTrackAndASliceOnACounterTrack) {
  std::ostringstream out;
  PerfettoWriter writer(out, process(), kClocks);
  const PerfettoTrack counter = writer.add_counter_track("q", "ms", writer.process_track());
  EXPECT_THAT([&] { writer.counter(writer.process_track(), 1, 1.0); },
              logic_error("a counter value needs a Perfetto counter track"));
  EXPECT_THAT(
      [&] { writer.begin_slice(counter, 1, {.name = "n"}); },
      logic_error("a Perfetto counter track takes only counter values, no slices or instants"));
}

TEST(PerfettoWriter, RefusesATrackOfAnotherTrace) {
  std::ostringstream out;
  PerfettoWriter writer(out, process(), kClocks);
  EXPECT_THAT([&] { writer.instant(PerfettoTrack{2}, 1, {.name = "n"}); },
              logic_error("the track does not belong to this Perfetto trace; use a track that "
                          "add_track of this writer returned"));
  EXPECT_THAT([&] { writer.add_track("n", PerfettoTrack{0}); },
              logic_error("the track does not belong to this Perfetto trace; use a track that "
                          "add_track of this writer returned"));
}

TEST(PerfettoWriter, LeavesNoTraceOfAnEventItRefuses) {
  EXPECT_THAT(added_by(kTrackNamedT,
                       [](PerfettoWriter& writer, PerfettoTrack track) {
                         EXPECT_THAT([&] { writer.instant(track, 1, {.name = "n", .flows = {0}}); },
                                     invalid_argument("numbered from 1 to 2^32 - 1, not 0"));
                         EXPECT_THAT(
                             [&] { writer.instant(track, 1, {.name = "n", .flows = {kBase}}); },
                             invalid_argument("numbered from 1 to 2^32 - 1, not 4294967296"));
                         EXPECT_THAT([&] { writer.instant(track, -1, {.name = "n"}); },
                                     invalid_argument("must not be negative, as -1 ns"));
                       }),
              IsEmpty());
}

TEST(PerfettoWriter, RefusesEverythingAfterFinish) {
  std::ostringstream out;
  PerfettoWriter writer(out, process(), kClocks);
  writer.finish();
  EXPECT_THAT([&] { writer.instant(writer.process_track(), 1, {.name = "n"}); },
              logic_error("the Perfetto trace is finished; make a new PerfettoWriter"));
  EXPECT_THAT([&] { writer.add_track("t"); },
              logic_error("the Perfetto trace is finished; make a new PerfettoWriter"));
  EXPECT_THAT([&] { writer.finish(); },
              logic_error("the Perfetto trace is finished; make a new PerfettoWriter"));
}

}  // namespace
}  // namespace rclrt::realtime
