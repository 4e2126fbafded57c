// SPDX-License-Identifier: Apache-2.0
#include "ctf_metadata.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "ctf_type_parser.hpp"

namespace rclrt::trace::ctf {

namespace {

constexpr std::size_t kMostEvents = 100'000;
constexpr std::int64_t kHighestFrequency = 10'000'000'000;  // * 1e9 fits into 64 bits

/// Parses those declarations of TSDL (CTF's metadata language) that tracers write.
class Parser {
 public:
  Parser(std::string_view text, bool native_is_big_endian)
      : types_(text, native_is_big_endian), lexer_(types_.lexer) {}

  /// Returns the trace's byte order. Types declared before it have the constructor's byte order.
  bool big_endian() const { return types_.big_endian; }

  Metadata parse() {
    while (lexer_.peek().kind != TokenKind::kEnd) {
      parse_top();
    }
    for (auto& [stated, id, event] : events_) {
      const std::uint64_t only = result_.streams.size() == 1 ? result_.streams.begin()->first : 0;
      result_.streams[stated.value_or(only)].events[id] = std::move(event);
    }
    return std::move(result_);
  }

 private:
  void parse_top() {
    const std::string word = lexer_.peek().kind == TokenKind::kWord ? lexer_.peek().text : "";
    if (types_.parse_declaration()) {
      // The declared type is in `types_`.
    } else if (word == "trace") {
      parse_trace();
    } else if (word == "stream") {
      parse_stream();
    } else if (word == "event") {
      parse_event();
    } else if (word == "env" || word == "clock" || word == "callsite") {
      lexer_.take();
      types_.parse_block(
          [&](const std::string& key, const Value& value) {
            if (word == "env") {
              take_environment(key, value);
            } else if (word == "clock") {
              take_clock(key, value);
            }
          },
          [](const std::string&, const TypePtr&) {});
    } else {
      lexer_.fail("'" + lexer_.peek().text + "'; expected a declaration");
    }
    lexer_.expect(";");
  }

  void take_environment(const std::string& key, const Value& value) {
    if (key == "hostname") {
      result_.hostname = value.text;
    } else if (key == "domain") {
      result_.domain = value.text;
    } else if (key == "trace_name" || key == "trace_creation_datetime") {
      result_.session += (result_.session.empty() ? "" : " ") + value.text;
    } else if (key == "vpid_datetime") {
      result_.process = value.text;
    } else if (key == "pid_ns" && value.number) {
      result_.pid_namespace = static_cast<std::uint64_t>(*value.number);
    }
  }

  void take_clock(const std::string& key, const Value& value) {
    if (key == "uuid") {
      result_.clock = value.text;
    } else if (key == "offset" && value.number && *value.number > 0 &&
               *value.number < kLatestSigned_ns) {
      result_.clock_offset_ns = *value.number;
    } else if (key == "freq") {
      const std::int64_t frequency = value.number.value_or(0);
      if (frequency <= 0 || frequency > kHighestFrequency) {
        lexer_.fail("a clock of " + value.text + " Hz; expected 1 to " +
                    std::to_string(kHighestFrequency));
      }
      result_.clock_frequency = static_cast<std::uint64_t>(frequency);
    }
  }

  void parse_trace() {
    lexer_.take();
    types_.parse_block(
        [&](const std::string& key, const Value& value) {
          if (key == "byte_order") {
            types_.big_endian = value.text == "be" || value.text == "network";
          } else if (key == "uuid") {
            result_.uuid = value.text;
          }
        },
        [&](const std::string& key, const TypePtr& type) {
          if (key == "packet.header") {
            result_.packet_header = type;
          }
        });
  }

  void parse_stream() {
    lexer_.take();
    std::uint64_t id = 0;
    StreamClass stream;
    types_.parse_block(
        [&](const std::string& key, const Value& value) {
          if (key == "id" && value.number) {
            id = static_cast<std::uint64_t>(*value.number);
          }
        },
        [&](const std::string& key, const TypePtr& type) {
          if (key == "event.header") {
            stream.event_header = type;
          } else if (key == "event.context") {
            stream.event_context = type;
          } else if (key == "packet.context") {
            stream.packet_context = type;
          }
        });
    result_.streams[id] = std::move(stream);
  }

  void parse_event() {
    lexer_.take();
    std::uint64_t id = 0;
    std::optional<std::uint64_t> stream;
    EventClass event;
    types_.parse_block(
        [&](const std::string& key, const Value& value) {
          if (key == "name") {
            event.name = value.text;
          } else if (key == "id" && value.number) {
            id = static_cast<std::uint64_t>(*value.number);
          } else if (key == "stream_id" && value.number) {
            stream = static_cast<std::uint64_t>(*value.number);
          }
        },
        [&](const std::string& key, const TypePtr& type) {
          if (key == "fields") {
            event.fields = type;
          } else if (key == "context") {
            event.context = type;
          }
        });
    if (events_.size() >= kMostEvents) {
      lexer_.fail("more events than " + std::to_string(kMostEvents));
    }
    events_.push_back({stream, id, std::move(event)});
  }

  struct FoundEvent {
    std::optional<std::uint64_t> stream;
    std::uint64_t id;
    EventClass event;
  };

  TypeParser types_;
  Lexer& lexer_;
  std::vector<FoundEvent> events_;
  Metadata result_;
};

constexpr std::uint32_t kPacketMagic = 0x75D11D57;
constexpr std::size_t kPacketHeader = 37;
// Offsets of the header's fields in bytes. The sizes that these fields hold are in bits.
constexpr std::size_t kContentSize = 24;
constexpr std::size_t kPacketSize = 28;
constexpr std::size_t kCompression = 32;
constexpr std::size_t kEncryption = 33;
constexpr std::size_t kMajor = 35;
constexpr char kRecordSeparator = '\x1E';  // before each text of a JSON text sequence (RFC 7464)

constexpr const char* kVersion2 =
    "the metadata is of CTF 2 (a sequence of JSON texts); expected CTF 1.8\n"
    "  fix: record again with lttng create --trace-format=ctf-1.8; rclrt trace record does that";

std::uint32_t read_32(std::string_view content, std::size_t at, bool big_endian) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto byte = static_cast<unsigned char>(content[at + (big_endian ? i : 3 - i)]);
    value = value << 8U | byte;
  }
  return value;
}

[[noreturn]] void fail_at(std::size_t byte, const std::string& what) {
  throw MetadataError("byte " + std::to_string(byte) + ": " + what);
}

/// Returns whether packets of metadata are big-endian; none: the content is text.
std::optional<bool> packets_are_big_endian(std::string_view content) {
  for (const bool big_endian : {false, true}) {
    std::string magic(4, '\0');
    for (std::size_t i = 0; i < 4; ++i) {
      magic[big_endian ? 3 - i : i] = static_cast<char>(kPacketMagic >> (8 * i) & 0xFFU);
    }
    if (content.starts_with(magic)) {
      return big_endian;
    }
    if (magic.starts_with(content)) {
      fail_at(content.size(), "the first packet of metadata is cut off");
    }
  }
  return std::nullopt;
}

struct Packet {
  std::size_t used = 0;  // bytes, including the header
  std::size_t size = 0;
};

Packet read_packet(std::string_view content, std::size_t at, bool big_endian) {
  const std::size_t left = content.size() - at;
  if (left < kPacketHeader) {
    fail_at(content.size(),
            "the packet of metadata from byte " + std::to_string(at) + " is cut off");
  }
  if (read_32(content, at, big_endian) != kPacketMagic) {
    fail_at(at, "no packet of metadata begins here");
  }
  if (content[at + kMajor] == 2) {
    throw MetadataError(kVersion2);
  }
  if (content[at + kCompression] != 0 || content[at + kEncryption] != 0) {
    fail_at(at, "the packet of metadata is compressed or encrypted; expected plain text");
  }
  const Packet packet{.used = read_32(content, at + kContentSize, big_endian) / 8,
                      .size = read_32(content, at + kPacketSize, big_endian) / 8};
  if (packet.used < kPacketHeader || packet.size < packet.used) {
    fail_at(at, "the sizes of the packet of metadata contradict each other");
  }
  if (packet.used > left) {
    fail_at(content.size(), "the packet of metadata from byte " + std::to_string(at) +
                                " is cut off; it has " + std::to_string(packet.used) + " bytes");
  }
  return packet;
}

}  // namespace

std::string metadata_text(std::string_view content) {
  if (content.empty()) {
    throw MetadataError("the file is empty; expected the declarations (CTF metadata) of a trace");
  }
  if (content.front() == kRecordSeparator) {
    throw MetadataError(kVersion2);
  }
  const std::optional<bool> big_endian = packets_are_big_endian(content);
  if (!big_endian) {
    return std::string(content);
  }
  std::string text;
  for (std::size_t at = 0; at < content.size();) {
    const Packet packet = read_packet(content, at, *big_endian);
    text += content.substr(at + kPacketHeader, packet.used - kPacketHeader);
    at += std::min(packet.size, content.size() - at);
  }
  if (text.starts_with(kRecordSeparator)) {
    throw MetadataError(kVersion2);
  }
  return text;
}

bool may_be_cut(std::string_view content) {
  const std::optional<bool> big_endian = packets_are_big_endian(content);
  bool last_is_full = true;
  for (std::size_t at = 0; big_endian && at < content.size();) {
    const Packet packet = read_packet(content, at, *big_endian);
    last_is_full = packet.used == packet.size;
    at += std::min(packet.size, content.size() - at);
  }
  return last_is_full;
}

Metadata parse_metadata(std::string_view text) {
  Parser parser(text, false);
  Metadata result = parser.parse();
  // LTTng declares the integers before the trace's byte order, which applies to them, too.
  return parser.big_endian() ? Parser(text, true).parse() : result;
}

}  // namespace rclrt::trace::ctf
