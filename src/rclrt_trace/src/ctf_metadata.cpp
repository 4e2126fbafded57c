// SPDX-License-Identifier: Apache-2.0
#include "ctf_metadata.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ctf_type_parser.hpp"

namespace rclrt::trace::ctf {

namespace {

constexpr std::size_t kMostEvents = 100'000;

/// Parses the declarations of TSDL that tracers write.
class Parser {
 public:
  explicit Parser(std::string_view text) : types_(text), lexer_(types_.lexer) {}

  Metadata parse() {
    while (lexer_.peek().kind != TokenKind::kEnd) {
      parse_top();
    }
    for (auto& [stream, id, event] : events_) {
      result_.streams[stream].events[id] = std::move(event);
    }
    return std::move(result_);
  }

 private:
  void parse_top() {
    const std::string word = lexer_.peek().kind == TokenKind::kWord ? lexer_.peek().text : "";
    if (word == "typealias") {
      types_.parse_alias();
    } else if (word == "struct" || word == "enum" || word == "variant") {
      types_.parse_type();
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
            if (word == "env" && key == "hostname") {
              result_.hostname = value.text;
            } else if (word == "env" && key == "domain") {
              result_.domain = value.text;
            }
          },
          [](const std::string&, const TypePtr&) {});
    } else {
      lexer_.fail("'" + lexer_.peek().text + "'; expected a declaration");
    }
    lexer_.expect(";");
  }

  void parse_trace() {
    lexer_.take();
    types_.parse_block(
        [&](const std::string& key, const Value& value) {
          if (key == "byte_order") {
            types_.big_endian = value.text == "be";
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
    std::uint64_t stream = 0;
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
    std::uint64_t stream;
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
constexpr std::size_t kContentSize = 24;  // where the header has it, in bits
constexpr std::size_t kPacketSize = 28;   // ditto

std::uint32_t read_32(std::string_view content, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, content.data() + at, sizeof value);
  return value;
}

}  // namespace

std::string metadata_text(std::string_view content) {
  if (content.size() < sizeof kPacketMagic || read_32(content, 0) != kPacketMagic) {
    return std::string(content);
  }
  std::string text;
  for (std::size_t at = 0; at < content.size();) {
    const std::size_t left = content.size() - at;
    if (left < kPacketHeader || read_32(content, at) != kPacketMagic) {
      throw MetadataError("byte " + std::to_string(at) + ": no packet of metadata begins here");
    }
    const std::size_t used = read_32(content, at + kContentSize) / 8;
    const std::size_t size = read_32(content, at + kPacketSize) / 8;
    if (used < kPacketHeader || size < used || used > left) {
      throw MetadataError("byte " + std::to_string(at) + ": the packet of metadata is cut off");
    }
    text += content.substr(at + kPacketHeader, used - kPacketHeader);
    at += std::min(size, left);
  }
  return text;
}

Metadata parse_metadata(std::string_view text) { return Parser(text).parse(); }

}  // namespace rclrt::trace::ctf
