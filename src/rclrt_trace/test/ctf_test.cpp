// SPDX-License-Identifier: Apache-2.0
// Tests of the trace format: the metadata, and the streams that are read by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ctf_metadata.hpp"
#include "ctf_stream.hpp"

namespace rclrt::trace::ctf {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Event headers like LTTng's compact ones: 5 bits of an id, 27 bits of a time.
constexpr const char* kMetadata = R"(/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
trace {
  major = 1; minor = 8; byte_order = le;
  packet.header := struct { uint32_t magic; uint32_t stream_id; };
};
env { hostname = "robot"; };
clock { name = "monotonic"; freq = 1000000000; offset = 0; };
typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := clock27_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := clock64_t;
struct header {
  enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
  variant <id> {
    struct { clock27_t timestamp; } compact;
    struct { uint32_t id; clock64_t timestamp; } extended;
  } v;
} align(8);
stream {
  id = 0;
  event.header := struct header;
  packet.context := struct {
    clock64_t timestamp_begin; unsigned long content_size; unsigned long packet_size;
    unsigned long packet_seq_num; unsigned long events_discarded;
  };
};
event { name = "some:thing"; id = 7; stream_id = 0; fields := struct {
  integer { size = 16; align = 8; signed = true; byte_order = be; } _number;
  string _name;
  unsigned long __data_length; uint8_t _data[ __data_length ];
  uint8_t _three[3];
  integer { size = 8; align = 8; signed = false; encoding = UTF8; } _text[4];
}; };
event { name = "some:other"; id = 200; stream_id = 0; fields := struct { }; };
)";

TEST(CtfMetadata, SaysWhatThereIs) {
  const Metadata metadata = parse_metadata(kMetadata);
  ASSERT_EQ(metadata.streams.size(), 1U);
  const StreamClass& stream = metadata.streams.at(0);
  EXPECT_EQ(stream.events.at(7).name, "some:thing");
  ASSERT_EQ(stream.events.at(7).fields->members.size(), 6U);
  EXPECT_EQ(stream.events.at(7).fields->members[0].name, "number");
  EXPECT_TRUE(stream.events.at(7).fields->members[0].type->big_endian);
  EXPECT_EQ(stream.events.at(7).fields->members[3].type->kind, TypeKind::kSequence);
  EXPECT_EQ(stream.event_header->align, 8U);
}

std::string error_of(const std::string& text) {
  try {
    parse_metadata(text);
  } catch (const MetadataError& error) {
    return error.what();
  }
  return "none";
}

TEST(CtfMetadata, MistakesAreLocated) {
  EXPECT_EQ(error_of("/* a\n comment */\n\nrobot {};"), "line 4: 'robot'; expected a declaration");
  EXPECT_EQ(error_of("event {\n name = \"a\";\n fields := struct { int32 x; };\n};"),
            "line 3: the type 'int32' is not known");
  EXPECT_EQ(error_of("typealias integer { size = 65; } := big;"),
            "line 1: an integer of 65 bits; expected 1 to 64");
  EXPECT_EQ(error_of("typealias integer { size = 8; align = 3; } := odd;"),
            "line 1: an alignment of 3; expected a power of 2 up to 1048576");
  EXPECT_EQ(error_of("env { a = \"without an end"), "line 1: a text without an end");
  EXPECT_EQ(error_of("env { a = 12abc; };"), "line 1: '12abc' is no number");
  EXPECT_EQ(error_of("trace {"), "line 1: 'the end'; expected a name");
  EXPECT_EQ(error_of("\x01\xff"), "line 1: '?'; expected a declaration");
}

TEST(CtfMetadata, TypesWithinTypesHaveAnEnd) {
  std::string settings;
  for (int i = 0; i < 10'000; ++i) {
    settings += "typealias integer { a := ";
  }
  EXPECT_NE(error_of(settings).find("line 1"), std::string::npos);
  std::string blocks = "env { a := ";
  for (int i = 0; i < 10'000; ++i) {
    blocks += "integer { a := ";
  }
  EXPECT_NE(error_of(blocks).find("deeper than 32"), std::string::npos);
  std::string nested;
  for (int i = 0; i < 10'000; ++i) {
    nested += "struct { ";
  }
  EXPECT_NE(error_of(nested).find("deeper than 32"), std::string::npos);
  std::string named = "struct s0 { };";
  for (int i = 1; i < 100; ++i) {
    named += "struct s" + std::to_string(i) + " { struct s" + std::to_string(i - 1) + " a; };";
  }
  EXPECT_NE(error_of(named).find("deeper than 32"), std::string::npos);
}

TEST(CtfMetadata, PacketsOfTextThatAreCutOffAreLocated) {
  std::string packet(37, '\0');
  packet.replace(0, 4, "\x57\x1d\xd1\x75");
  packet[24] = static_cast<char>(41 * 8 % 256);
  packet[25] = static_cast<char>(41 * 8 / 256);
  packet[28] = packet[24];
  packet[29] = packet[25];
  EXPECT_EQ(metadata_text(packet + "text"), "text");
  EXPECT_EQ(metadata_text(packet + "text" + packet + "more"), "textmore");
  EXPECT_THAT([&] { metadata_text(packet + "text" + packet + "mo"); },
              ThrowsMessage<MetadataError>(HasSubstr(
                  "byte 80: the packet of metadata from byte 41 is cut off; it has 41 bytes")));
  EXPECT_THAT(
      [&] { metadata_text(packet + "text" + "rest"); },
      ThrowsMessage<MetadataError>("byte 45: the packet of metadata from byte 41 is cut off"));
  EXPECT_EQ(metadata_text("/* plain */"), "/* plain */");
}

/// Builds the bytes of a stream.
struct Bytes {
  std::string content;

  Bytes& number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      content.push_back(static_cast<char>(value >> (8 * i) & 0xFFU));
    }
    return *this;
  }
  Bytes& text(const std::string& value) {
    content += value;
    return *this;
  }
};

/// Returns a packet with `events` as its content.
std::string packet_of(const std::string& events, std::uint64_t begin, std::uint64_t number,
                      std::uint64_t discarded, std::uint64_t padding = 0) {
  constexpr std::uint64_t kHeader = 8 + 5 * 8;
  Bytes bytes;
  bytes.number(0xC1FC1FC1, 4).number(0, 4).number(begin, 8);
  bytes.number((kHeader + events.size()) * 8, 8);
  bytes.number((kHeader + events.size() + padding) * 8, 8).number(number, 8).number(discarded, 8);
  return bytes.content + events + std::string(padding, '\xEE');
}

std::string thing(std::uint64_t time) {
  Bytes bytes;
  bytes.number(7U | (time & 0x7FFFFFFU) << 5U, 4);
  bytes.text("\xff\xfe").text("name").number(0, 1);  // -2, with the larger byte first
  bytes.number(2, 8).number(0x0102, 2).number(0, 3).text("abcd");
  return bytes.content;
}

/// Chooses the number and the texts of some:thing, and skips some:other.
struct Wanted final : Choice {
  bool choose(const EventClass& event, const Type*, Fields&, Fields& of_event) override {
    of_event.numbers = {{0, 2}};
    of_event.texts = {{1, 0}, {5, 1}};
    return event.name == "some:thing";
  }
};

class CtfStream : public testing::Test {
 protected:
  ~CtfStream() override { std::filesystem::remove(file_); }

  void write(const std::string& content) { std::ofstream(file_, std::ios::binary) << content; }
  std::vector<std::int64_t> times(Stream& stream) {
    std::vector<std::int64_t> result;
    while (stream.next()) {
      result.push_back(stream.time());
      EXPECT_EQ(static_cast<std::int64_t>(stream.numbers()[2]), -2);
      EXPECT_EQ(stream.text(0), "name");
      EXPECT_EQ(stream.text(1), "abcd");
    }
    return result;
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("rclrt_ctf_test_" + std::to_string(::getpid()));
  const Metadata metadata_ = parse_metadata(kMetadata);
  Wanted wanted_;
  SeenPackets seen_;
};

constexpr std::int64_t kWrap = 1 << 27;

TEST_F(CtfStream, TimesOfAFewBitsGoOnWhereTheyWrap) {
  write(packet_of(thing(kWrap - 1) + thing(5) + thing(7), kWrap - 2, 0, 0, 100) +
        packet_of(thing(9), 5 * kWrap, 1, 0));
  Stream stream(file_, metadata_, wanted_, seen_);
  EXPECT_EQ(times(stream),
            (std::vector<std::int64_t>{kWrap - 1, kWrap + 5, kWrap + 7, 5 * kWrap + 9}));
  EXPECT_TRUE(stream.damage().empty());
}

TEST_F(CtfStream, AnExtendedHeaderHasAWholeIdAndTime) {
  Bytes extended;
  extended.number(31, 1).number(200, 4).number(123456789012, 8);
  write(packet_of(extended.content + thing(0), 100, 0, 0));
  Stream stream(file_, metadata_, wanted_, seen_);
  ASSERT_EQ(times(stream).size(), 1U);
  EXPECT_EQ(stream.events(), 2U);
  EXPECT_GE(stream.time(), 123456789012);
}

TEST_F(CtfStream, EventsAfterALossSaySo) {
  write(packet_of(thing(1) + thing(2), 0, 0, 0) + packet_of(thing(3), 0, 1, 5) +
        packet_of(thing(4), 0, 2, 5) + packet_of(thing(5), 0, 3, 5));
  Stream stream(file_, metadata_, wanted_, seen_);
  std::vector<bool> gaps;
  while (stream.next()) {
    gaps.push_back(stream.after_gap());
  }
  // A packet does not record where its events were lost: they may be missing after it, too.
  EXPECT_EQ(gaps, (std::vector<bool>{false, false, true, true, false}));
}

TEST_F(CtfStream, WhatTheTracerLostIsCounted) {
  write(packet_of(thing(1), 0, 4, 10) + packet_of(thing(2), 0, 7, 15));
  Stream stream(file_, metadata_, wanted_, seen_);
  EXPECT_EQ(times(stream).size(), 2U);
  EXPECT_EQ(stream.lost_events(), 15U);
  EXPECT_EQ(stream.lost_packets(), 2U);
}

TEST_F(CtfStream, AfterADamagedPacketComesTheNext) {
  std::string damaged = thing(1) + thing(2);
  damaged[thing(1).size()] = 9;  // an id that is not declared
  write(packet_of(damaged, 0, 0, 0) + packet_of(thing(3), 0, 1, 0));
  Stream stream(file_, metadata_, wanted_, seen_);
  EXPECT_EQ(times(stream), (std::vector<std::int64_t>{1, 3}));
  ASSERT_EQ(stream.damage().size(), 1U);
  EXPECT_EQ(stream.damage()[0],
            file_.string() +
                ": packet at byte 0: an event with the id 9, which the metadata does not declare; "
                "the rest of the packet is left out");
}

TEST_F(CtfStream, WhatIsCutOffIsReadAsFarAsItGoes) {
  const std::string whole = packet_of(thing(1) + thing(2), 0, 0, 0);
  write(whole.substr(0, whole.size() - 3));
  Stream stream(file_, metadata_, wanted_, seen_);
  EXPECT_EQ(times(stream), std::vector<std::int64_t>{1});
  ASSERT_FALSE(stream.damage().empty());
  EXPECT_NE(stream.damage()[0].find("the file is cut off in it"), std::string::npos);
}

TEST_F(CtfStream, SizesThatContradictEachOtherAreRefused) {
  std::string packet = packet_of(thing(1), 0, 0, 0);
  packet[24] = 1;  // a byte of packet_size
  write(packet);
  Stream stream(file_, metadata_, wanted_, seen_);
  EXPECT_TRUE(times(stream).empty());
  EXPECT_EQ(stream.damage().size(), 1U);
  write("short");
  Stream cut(file_, metadata_, wanted_, seen_);
  EXPECT_TRUE(times(cut).empty());
  write("");
  Stream empty(file_, metadata_, wanted_, seen_);
  EXPECT_TRUE(times(empty).empty());
  ASSERT_EQ(empty.damage().size(), 1U);
  EXPECT_NE(empty.damage()[0].find("is empty"), std::string::npos);
}

TEST_F(CtfStream, AnEventOfNothingThatRepeatsForEverEnds) {
  const Metadata metadata = parse_metadata(
      "typealias integer { size = 32; align = 8; } := u32;\n"
      "struct nothing { }; struct a { struct nothing x[1000000]; };\n"
      "stream { id = 0; event.header := struct { u32 id; }; };\n"
      "event { name = \"some:thing\"; id = 0; stream_id = 0;\n"
      "  fields := struct { struct a x[1000000]; }; };");
  write(std::string(64, '\0'));
  Stream stream(file_, metadata, wanted_, seen_);
  EXPECT_FALSE(stream.next());
  ASSERT_FALSE(stream.damage().empty());
  EXPECT_NE(stream.damage()[0].find("more fields than the reader allows"), std::string::npos);
}

}  // namespace
}  // namespace rclrt::trace::ctf
