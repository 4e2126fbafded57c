// SPDX-License-Identifier: Apache-2.0
// Tests of the places where a trace lacks events: at the end of a stream, and between its files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "trace_reader.hpp"

namespace rclrt::trace {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kLossyMetadata = R"(/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace {
  major = 1; minor = 8; byte_order = le;
  uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
  packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint64_t stream_instance_id; };
};
clock { name = "monotonic"; freq = 1000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := clock64_t;
stream {
  event.header := struct { uint8_t id; clock64_t timestamp; };
  event.context := struct { uint32_t _vpid; uint32_t _vtid; };
  packet.context := struct { uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num;
    uint64_t events_discarded; };
};
event { name = "ros2:callback_end"; id = 0; fields := struct { uint64_t _callback; }; };
event { name = "some:other"; id = 1; fields := struct { uint64_t _value; }; };)";

/// Where events are missing: the time until which, and since which.
struct Missing {
  std::int64_t until_ns;
  std::int64_t since_ns;
  bool operator==(const Missing&) const = default;
};

void PrintTo(const Missing& missing, std::ostream* out) {
  *out << "until " << missing.until_ns << " since " << missing.since_ns;
}

class MissingEventsOfATrace : public testing::Test {
 protected:
  MissingEventsOfATrace() {
    fs::create_directories(trace_);
    std::ofstream(trace_ / "metadata") << kLossyMetadata;
  }
  ~MissingEventsOfATrace() override { fs::remove_all(trace_); }

  /// Adds a packet with events at these times to a file; a time below 0 is that of another event.
  void packet(const std::string& file, std::uint64_t number, std::uint64_t discarded,
              const std::vector<std::int64_t>& times, std::uint64_t stream = 0) {
    constexpr std::uint64_t kHeader = 4 + 16 + 8 + 4 * 8;
    constexpr std::uint64_t kEvent = 1 + 8 + 4 + 4 + 8;
    std::string bytes;
    const auto append = [&](std::uint64_t value, int count) {
      for (int i = 0; i < count; ++i) {
        bytes.push_back(static_cast<char>(value >> (8 * i) & 0xFFU));
      }
    };
    append(0xC1FC1FC1, 4);
    for (std::uint64_t i = 0; i < 16; ++i) {
      append(i, 1);
    }
    append(stream, 8);
    append((kHeader + kEvent * times.size()) * 8, 8);
    append((kHeader + kEvent * times.size()) * 8, 8);
    append(number, 8);
    append(discarded, 8);
    for (const std::int64_t time : times) {
      append(time < 0 ? 1 : 0, 1);
      append(static_cast<std::uint64_t>(time < 0 ? -time : time), 8);
      append(100, 4);
      append(101, 4);
      append(7, 8);
    }
    std::ofstream(trace_ / file, std::ios::binary | std::ios::app) << bytes;
  }

  /// Reads the trace.
  void read() {
    counts_ = read_trace(trace_, [&](const TraceEvent& event) {
      if (event.kind == EventKind::kLoss) {
        missing_.push_back({static_cast<std::int64_t>(event.numbers[0]),
                            static_cast<std::int64_t>(event.numbers[1])});
      } else {
        times_.push_back(event.time_ns);
      }
    });
  }

  const fs::path trace_ =
      fs::path(testing::TempDir()) / ("missing_events_" + std::to_string(::getpid()));
  ReadCounts counts_;
  std::vector<Missing> missing_;
  std::vector<std::int64_t> times_;
};

TEST_F(MissingEventsOfATrace, ALossAtTheEndLastsUpToTheEndOfTheTrace) {
  packet("stream", 0, 0, {10, 20});
  packet("stream", 1, 3, {30});
  packet("other", 0, 0, {15, 90}, 1);
  read();
  EXPECT_THAT(times_, ElementsAre(10, 15, 20, 30, 90));
  // The events of packet 1 may be missing before its first event, and after its last one.
  EXPECT_THAT(missing_, ElementsAre(Missing{30, 20}, Missing{INT64_MAX, 30}));
  EXPECT_EQ(counts_.lost, 3U);
}

TEST_F(MissingEventsOfATrace, ALossIsReportedAtTheNextEventThatIsRead) {
  packet("stream", 0, 0, {10});
  packet("stream", 1, 3, {-20});
  packet("stream", 2, 3, {-30});
  packet("stream", 3, 3, {40, 50});
  read();
  EXPECT_THAT(missing_, ElementsAre(Missing{40, 10}));
}

TEST_F(MissingEventsOfATrace, TheNextFileOfAStreamHasLostNothingMore) {
  packet("stream_0", 0, 0, {10});
  packet("stream_0", 1, 3, {20});
  packet("stream_0", 2, 3, {30});
  packet("stream_0", 3, 3, {40});
  packet("stream_1", 4, 3, {50});  // the count is that of the whole stream
  packet("stream_1", 5, 3, {60});
  read();
  EXPECT_THAT(missing_, ElementsAre(Missing{20, 10}, Missing{30, 20}));
  EXPECT_EQ(counts_.lost, 3U);
  EXPECT_EQ(counts_.lost_packets, 0U);
}

TEST_F(MissingEventsOfATrace, ALossBetweenTwoFilesIsFound) {
  packet("stream_0", 0, 0, {10});
  packet("stream_1", 1, 0, {-15});  // no event that is read, and nothing lost
  packet("stream_2", 2, 3, {20});
  packet("stream_2", 3, 3, {30});
  packet("stream_2", 4, 3, {40});
  read();
  EXPECT_THAT(missing_, ElementsAre(Missing{20, 10}, Missing{30, 20}));
  EXPECT_EQ(counts_.lost, 3U);
}

TEST_F(MissingEventsOfATrace, ALossInAFileWithoutEventsThatAreReadIsFound) {
  packet("stream_0", 0, 0, {10});
  packet("stream_1", 1, 3, {-15});
  packet("stream_1", 2, 3, {-16});
  packet("stream_2", 3, 3, {20, 30});
  read();
  EXPECT_THAT(missing_, ElementsAre(Missing{20, 10}));
}

TEST_F(MissingEventsOfATrace, PacketsBetweenTwoFilesAreMissing) {
  packet("stream_0", 0, 0, {10});
  packet("stream_1", 4, 0, {20});
  packet("stream_1", 5, 0, {30});
  packet("stream_1", 6, 0, {40});
  read();
  EXPECT_THAT(missing_, ElementsAre(Missing{20, 10}, Missing{30, 20}));
  EXPECT_EQ(counts_.lost_packets, 0U);  // a tracer that keeps the newest ones has overwritten them
}

TEST_F(MissingEventsOfATrace, ALossInALastFileWithoutEventsThatAreReadIsFound) {
  packet("stream_0", 0, 0, {10});
  packet("stream_1", 1, 3, {-15});
  read();
  EXPECT_THAT(missing_, ElementsAre(Missing{INT64_MAX, 10}));
}

TEST_F(MissingEventsOfATrace, APacketOfTwoFilesIsNotMissing) {
  for (std::uint64_t number = 0; number < 4; ++number) {
    packet("snapshot_0", number, 0, {static_cast<std::int64_t>(10 + 10 * number)});
  }
  for (std::uint64_t number = 2; number < 6; ++number) {
    packet("snapshot_1", number, 0, {static_cast<std::int64_t>(10 + 10 * number)});
  }
  read();
  EXPECT_THAT(times_, ElementsAre(10, 20, 30, 40, 50, 60));
  EXPECT_THAT(missing_, IsEmpty());
  EXPECT_EQ(counts_.lost_packets, 0U);
}

}  // namespace
}  // namespace rclrt::trace
