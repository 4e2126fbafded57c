// SPDX-License-Identifier: Apache-2.0
// Tests of trace files that are empty, missing, cut off at any byte, damaged or of another format.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "trace_reader.hpp"

namespace rclrt::trace {
namespace {

namespace fs = std::filesystem;

/// Declares two events. The second one is in every packet.
constexpr const char* kMetadata = R"(/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace {
  major = 1; minor = 8; byte_order = le;
  uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
  packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; };
};
env { hostname = "robot"; };
clock { name = "monotonic"; freq = 1000000000; };
stream {
  id = 0;
  event.header := struct { uint8_t id; uint64_t timestamp; };
  packet.context := struct { uint64_t content_size; uint64_t packet_size; };
};
event { name = "some:thing"; id = 0; stream_id = 0; fields := struct { string _name; }; };
event { name = "some:other"; id = 1; stream_id = 0; fields := struct { uint32_t _value; }; };)";

void append(std::string& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    to.push_back(static_cast<char>(value >> (8 * i) & 0xFFU));
  }
}

std::string packet(char first_of_uuid = 0) {
  constexpr std::uint64_t kContent = 24 + 16 + 9 + 5 + 9 + 4;
  constexpr std::uint64_t kPadding = 11;
  std::string bytes;
  append(bytes, 0xC1FC1FC1, 4);
  for (char i = 0; i < 16; ++i) {
    bytes.push_back(i == 0 ? first_of_uuid : i);
  }
  append(bytes, 0, 4);
  append(bytes, kContent * 8, 8);
  append(bytes, (kContent + kPadding) * 8, 8);
  append(bytes, 0, 1);
  append(bytes, 1000, 8);
  bytes.append("name", 5);
  append(bytes, 1, 1);
  append(bytes, 2000, 8);
  append(bytes, 7, 4);
  return bytes + std::string(kPadding, '\xEE');
}

/// Returns the text in packets of 512 bytes, as LTTng writes it. The last packet is padded.
std::string in_packets(const std::string& text, bool big_endian, char major = 1) {
  constexpr std::size_t kSize = 512;
  constexpr std::size_t kHeader = 37;
  std::string content;
  const auto number = [&](std::uint32_t value) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      content.push_back(static_cast<char>(value >> (8 * (big_endian ? 3 - i : i)) & 0xFFU));
    }
  };
  for (std::size_t at = 0; at < text.size(); at += kSize - kHeader) {
    const std::string part = text.substr(at, kSize - kHeader);
    number(0x75D11D57);
    content.append(20, '\0');
    number(static_cast<std::uint32_t>((part.size() + kHeader) * 8));
    number(kSize * 8);
    content.append(3, '\0');
    content.push_back(major);
    content.push_back(8);
    content += part;
    content.append(kSize - kHeader - part.size(), '\0');
  }
  return content;
}

class TraceFiles : public testing::Test {
 protected:
  TraceFiles() {
    fs::create_directories(trace_ / "index");
    write("metadata", kMetadata);
    write("stream", packet() + packet());
  }
  ~TraceFiles() override { fs::remove_all(trace_); }

  void write(const char* file, const std::string& content) const {
    std::ofstream(trace_ / file, std::ios::binary) << content;
  }
  ReadCounts read() const {
    return read_trace(trace_, [](const TraceEvent&) {});
  }
  std::string error() const {
    try {
      read();
    } catch (const TraceError& error) {
      return error.what();
    }
    return "none";
  }
  /// Writes an index of two packets, as LTTng does.
  void write_index() const {
    std::string index;
    const auto number = [&](std::uint64_t value, int bytes) {
      for (int i = bytes - 1; i >= 0; --i) {
        index.push_back(static_cast<char>(value >> (8 * i) & 0xFFU));
      }
    };
    number(0xC1F1DCC1, 4);
    number(1, 4);
    number(1, 4);
    number(72, 4);
    for (std::uint64_t i = 0; i < 2; ++i) {
      number(i * packet().size(), 8);
      number(packet().size() * 8, 8);
      index.append(72 - 16, '\0');
    }
    write("index/stream.idx", index);
  }

  const fs::path trace_ =
      fs::temp_directory_path() / ("rclrt_trace_files_" + std::to_string(::getpid()));
};

TEST_F(TraceFiles, AWholeTraceIsRead) {
  const ReadCounts counts = read();
  EXPECT_EQ(counts.events, 4U);
  EXPECT_TRUE(counts.damage.empty());
}

TEST_F(TraceFiles, MetadataThatIsCutOffAtAnyByteIsAnErrorWithTheFileAndThePlace) {
  const std::string text = kMetadata;
  for (const std::string& content : {text, in_packets(text, false), in_packets(text, true)}) {
    write("metadata", content);
    ASSERT_EQ(read().events, 4U);
    const std::size_t used = content.find_last_not_of('\0') + 1;
    // Text is cut at every byte, packets at every fifth: all bytes within a packet are alike.
    const std::size_t step = content == text ? 1 : 5;
    for (std::size_t cut = used - used % step; cut > 0;) {
      cut -= step;
      fs::resize_file(trace_ / "metadata", cut);
      const std::string said = error();
      EXPECT_TRUE(said.starts_with((trace_ / "metadata").string() + ": ")) << cut << ": " << said;
      EXPECT_NE(said.find("\n  fix: "), std::string::npos) << cut << ": " << said;
    }
  }
}

TEST_F(TraceFiles, MissingMetadataIsAnErrorThatNamesTheStream) {
  fs::remove(trace_ / "metadata");
  EXPECT_TRUE(error().starts_with(trace_.string() + ": has no file \"metadata\", but " +
                                  (trace_ / "stream").string()))
      << error();
  fs::create_directories(trace_ / "metadata");  // a directory is no metadata file
  EXPECT_NE(error().find("has no file \"metadata\""), std::string::npos);
  fs::remove_all(trace_ / "metadata");
  write("stream", "");
  write_index();  // the index alone
  EXPECT_NE(error().find("has no file \"metadata\""), std::string::npos);
}

TEST_F(TraceFiles, MetadataOfVersion2IsRefusedByName) {
  const std::string json = "\x1E{\"type\":\"preamble\",\"version\":2}\n";
  for (const std::string& content : {json, in_packets(json, false), in_packets(json, true, 2)}) {
    write("metadata", content);
    EXPECT_NE(error().find("CTF 2"), std::string::npos) << error();
    EXPECT_NE(error().find("--trace-format=ctf-1.8"), std::string::npos);
  }
}

TEST_F(TraceFiles, AStreamThatIsCutOffAtAnyByteIsToldWithTheFile) {
  const std::string whole = packet() + packet();
  const std::size_t used = whole.find_last_not_of('\xEE') + 1;
  write_index();
  for (std::size_t cut = used + 1; cut-- > 0;) {
    fs::resize_file(trace_ / "stream", cut);
    const ReadCounts counts = read();
    EXPECT_LE(counts.events, 4U);
    if (cut == used) {  // only padding is missing
      ASSERT_EQ(counts.events, 4U);
      continue;
    }
    ASSERT_FALSE(counts.damage.empty()) << cut;
    EXPECT_TRUE(counts.damage[0].starts_with((trace_ / "stream").string() + ": ")) << cut;
  }
}

TEST_F(TraceFiles, DamageOfAnyBitIsReadOrRefusedButDoesNotHang) {
  std::mt19937 draw(45);
  const std::string metadata = in_packets(kMetadata, false);
  const std::string stream = packet() + packet();
  for (int i = 0; i < 800; ++i) {
    std::string content = i % 2 == 0 ? metadata : stream;
    for (int flips = i % 5; flips >= 0; --flips) {
      char& byte = content[draw() % content.size()];
      byte = static_cast<char>(byte ^ (1U << draw() % 8));
    }
    write("metadata", i % 2 == 0 ? content : metadata);
    write("stream", i % 2 == 0 ? stream : content);
    error();  // fails by a crash, a hang or an exception of another type
  }
}

TEST_F(TraceFiles, AfterADamagedSizeTheNextPacketIsFound) {
  std::string damaged = packet();
  damaged[24 + 8] = 1;  // a byte of packet_size
  write("stream", damaged + packet());
  const ReadCounts counts = read();
  EXPECT_EQ(counts.events, 2U);
  ASSERT_EQ(counts.damage.size(), 1U);
  EXPECT_NE(
      counts.damage[0].find("the next packet begins at byte " + std::to_string(packet().size())),
      std::string::npos)
      << counts.damage[0];
}

TEST_F(TraceFiles, APacketOfAnotherTraceIsNotReadByThisMetadata) {
  write("stream", packet('x') + packet());
  const ReadCounts counts = read();
  EXPECT_EQ(counts.events, 2U);
  ASSERT_EQ(counts.damage.size(), 1U);
  EXPECT_NE(counts.damage[0].find("to another trace"), std::string::npos);
}

TEST_F(TraceFiles, OneDamagedEventAmongOthersIsNoCutMetadata) {
  std::string damaged = packet();
  damaged[24 + 16] = 9;  // the id of its first event
  write("stream", damaged + packet() + packet());
  const ReadCounts counts = read();
  EXPECT_EQ(counts.events, 4U);
  ASSERT_EQ(counts.damage.size(), 1U);
  EXPECT_NE(counts.damage[0].find("an event with the id 9"), std::string::npos);
}

}  // namespace
}  // namespace rclrt::trace
