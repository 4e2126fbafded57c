// SPDX-License-Identifier: Apache-2.0
#include "ctf_metadata.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "ctf_lexer.hpp"

namespace rclrt::trace::ctf {

namespace {

constexpr int kDeepest = 32;              // types within types
constexpr std::uint64_t kMostElements = 1U << 20U;
constexpr std::uint64_t kLargestAlign = 64;
constexpr std::size_t kMostEvents = 100'000;

std::string plain(std::string name) {
  return name.size() > 1 && name.front() == '_' ? name.substr(1) : name;
}

/// The value on the right of "=".
struct Value {
  std::optional<std::int64_t> number;
  std::string text;  // words joined by dots, or a text
};

/// A recursive-descent parser of the part of TSDL that tracers write.
class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

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
      lexer_.take();
      const TypePtr type = parse_type(0);
      lexer_.expect(":=");
      std::string name = lexer_.expect_word();
      while (lexer_.peek().kind == TokenKind::kWord) {
        name += " " + lexer_.take().text;
      }
      aliases_[name] = type;
    } else if (word == "struct" || word == "enum" || word == "variant") {
      parse_type(0);
    } else if (word == "trace") {
      parse_trace();
    } else if (word == "stream") {
      parse_stream();
    } else if (word == "event") {
      parse_event();
    } else if (word == "env" || word == "clock" || word == "callsite") {
      lexer_.take();
      parse_block([](const std::string&, const Value&) {},
                  [](const std::string&, const TypePtr&) {});
    } else {
      lexer_.fail("'" + lexer_.peek().text + "'; expected a declaration");
    }
    lexer_.expect(";");
  }

  /// "{ a.b = value; c := type; }": calls `on_value` or `on_type` for each.
  template <typename OnValue, typename OnType>
  void parse_block(OnValue on_value, OnType on_type) {
    lexer_.expect("{");
    while (!lexer_.take_if("}")) {
      if (lexer_.peek().text == "typealias" || lexer_.peek().text == "struct" ||
          lexer_.peek().text == "enum") {
        parse_top();
        continue;
      }
      std::string key = lexer_.expect_word();
      while (lexer_.take_if(".")) {
        key += "." + lexer_.expect_word();
      }
      if (lexer_.take_if(":=")) {
        on_type(key, parse_type(0));
      } else {
        lexer_.expect("=");
        on_value(key, parse_value());
      }
      lexer_.expect(";");
    }
  }

  Value parse_value() {
    Value value;
    if (lexer_.peek().kind == TokenKind::kNumber) {
      const Token token = lexer_.take();
      value = {.number = token.number, .text = token.text};
    } else if (lexer_.peek().kind == TokenKind::kText) {
      value.text = lexer_.take().text;
    } else {
      value.text = lexer_.expect_word();
      while (lexer_.take_if(".")) {
        value.text += "." + lexer_.expect_word();
      }
    }
    return value;
  }

  void parse_trace() {
    lexer_.take();
    parse_block(
        [&](const std::string& key, const Value& value) {
          if (key == "byte_order") {
            big_endian_ = value.text == "be";
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
    parse_block(
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
    parse_block(
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

  TypePtr parse_type(int depth) {
    if (depth > kDeepest) {
      lexer_.fail("types within types, deeper than " + std::to_string(kDeepest));
    }
    const std::string word = lexer_.peek().kind == TokenKind::kWord ? lexer_.peek().text : "";
    if (word == "integer" || word == "floating_point") {
      return parse_number();
    }
    if (word == "string") {
      lexer_.take();
      if (lexer_.peek().text == "{") {
        parse_block([](const std::string&, const Value&) {},
                    [](const std::string&, const TypePtr&) {});
      }
      return std::make_shared<Type>(Type{.kind = TypeKind::kString, .align = 8});
    }
    if (word == "struct") {
      return parse_struct(depth);
    }
    if (word == "variant") {
      return parse_variant(depth);
    }
    if (word == "enum") {
      return parse_enum(depth);
    }
    return named(lexer_.expect_word());
  }

  TypePtr named(const std::string& name) const {
    const auto found = aliases_.find(name);
    if (found == aliases_.end()) {
      lexer_.fail("the type '" + name + "' is not known");
    }
    return found->second;
  }

  TypePtr parse_number() {
    Type type{.kind = lexer_.take().text == "integer" ? TypeKind::kInteger : TypeKind::kFloat,
              .big_endian = big_endian_};
    std::optional<std::uint64_t> align;
    std::uint64_t exponent = 0;
    parse_block(
        [&](const std::string& key, const Value& value) {
          const auto number = static_cast<std::uint64_t>(value.number.value_or(0));
          if (key == "size") {
            type.size = number;
          } else if (key == "exp_dig" || key == "mant_dig") {
            exponent += number;
          } else if (key == "align") {
            align = number;
          } else if (key == "signed") {
            type.is_signed = value.text == "true" || value.text == "TRUE" || number != 0;
          } else if (key == "byte_order") {
            type.big_endian = value.text == "be" || value.text == "network" ||
                              (value.text == "native" && big_endian_);
          } else if (key == "map") {
            type.is_clock = value.text.starts_with("clock.");
          }
        },
        [](const std::string&, const TypePtr&) {});
    type.size = type.kind == TypeKind::kFloat ? exponent : type.size;
    if (type.size == 0 || type.size > 64) {
      lexer_.fail("an integer of " + std::to_string(type.size) + " bits; expected 1 to 64");
    }
    type.align = checked_align(align.value_or(type.size % 8 == 0 ? 8 : 1));
    return std::make_shared<Type>(std::move(type));
  }

  std::uint64_t checked_align(std::uint64_t align) const {
    if (!std::has_single_bit(align) || align > kLargestAlign) {
      lexer_.fail("an alignment of " + std::to_string(align) + "; expected a power of 2 up to " +
                  std::to_string(kLargestAlign));
    }
    return align;
  }

  TypePtr parse_struct(int depth) {
    lexer_.take();
    std::string name;
    if (lexer_.peek().kind == TokenKind::kWord && lexer_.peek().text != "align") {
      name = "struct " + lexer_.take().text;
      if (lexer_.peek().text != "{") {
        return named(name);
      }
    }
    Type type{.kind = TypeKind::kStruct, .members = parse_members(depth)};
    for (const Member& member : type.members) {
      type.align = std::max(type.align, member.type->align);
    }
    if (lexer_.peek().text == "align") {
      lexer_.take();
      lexer_.expect("(");
      const Token align = lexer_.take();
      lexer_.expect(")");
      type.align = std::max(type.align, checked_align(static_cast<std::uint64_t>(align.number)));
    }
    return keep(name, std::move(type));
  }

  TypePtr parse_variant(int depth) {
    lexer_.take();
    std::string name;
    if (lexer_.peek().kind == TokenKind::kWord) {
      name = "variant " + lexer_.take().text;
    }
    std::string tag;
    if (lexer_.take_if("<")) {
      tag = parse_path();
      lexer_.expect(">");
    }
    if (lexer_.peek().text != "{") {
      Type type = *named(name);
      type.tag = tag.empty() ? type.tag : tag;
      return std::make_shared<Type>(std::move(type));
    }
    Type type{.kind = TypeKind::kVariant, .members = parse_members(depth), .tag = tag};
    return keep(name, std::move(type));
  }

  /// The last word of a path, without the underscore of LTTng.
  std::string parse_path() {
    std::string last = lexer_.expect_word();
    while (lexer_.take_if(".")) {
      last = lexer_.expect_word();
    }
    return plain(last);
  }

  TypePtr parse_enum(int depth) {
    lexer_.take();
    std::string name;
    if (lexer_.peek().kind == TokenKind::kWord) {
      name = "enum " + lexer_.take().text;
      if (lexer_.peek().text != "{" && lexer_.peek().text != ":") {
        return named(name);
      }
    }
    Type type = *(lexer_.take_if(":") ? parse_type(depth + 1) : named("int"));
    if (type.kind != TypeKind::kInteger) {
      lexer_.fail("an enumeration of what is no integer");
    }
    lexer_.expect("{");
    std::int64_t next = 0;
    while (!lexer_.take_if("}")) {
      const Token label = lexer_.take();
      if (label.kind != TokenKind::kWord && label.kind != TokenKind::kText) {
        lexer_.fail("'" + label.text + "'; expected a label");
      }
      std::int64_t first = next;
      std::int64_t last = next;
      if (lexer_.take_if("=")) {
        first = last = lexer_.take().number;
        if (lexer_.take_if("...")) {
          last = lexer_.take().number;
        }
      }
      type.labels.push_back({plain(label.text), first, last});
      next = last == std::numeric_limits<std::int64_t>::max() ? last : last + 1;
      if (!lexer_.take_if(",") && lexer_.peek().text != "}") {
        lexer_.fail("'" + lexer_.peek().text + "'; expected ',' or '}'");
      }
    }
    return keep(name, std::move(type));
  }

  TypePtr keep(const std::string& name, Type type) {
    for (const Member& member : type.members) {
      type.depth = std::max(type.depth, member.type->depth + 1);
    }
    if (type.depth > kDeepest) {
      lexer_.fail("types within types, deeper than " + std::to_string(kDeepest));
    }
    auto kept = std::make_shared<const Type>(std::move(type));
    if (!name.empty()) {
      aliases_[name] = kept;
    }
    return kept;
  }

  std::vector<Member> parse_members(int depth) {
    lexer_.expect("{");
    std::vector<Member> members;
    while (!lexer_.take_if("}")) {
      members.push_back(parse_member(depth));
      lexer_.expect(";");
    }
    return members;
  }

  /// "type name", "type name[4]", "type name[length]"; a type may be several words.
  Member parse_member(int depth) {
    static constexpr std::string_view kTypes[] = {"integer", "floating_point", "string",
                                                  "struct",  "variant",        "enum"};
    TypePtr type;
    std::string name;
    if (std::ranges::find(kTypes, lexer_.peek().text) != std::end(kTypes)) {
      type = parse_type(depth + 1);
      name = lexer_.expect_word();
    } else {
      std::string words = lexer_.expect_word();
      name = lexer_.expect_word();
      while (lexer_.peek().kind == TokenKind::kWord) {
        words += " " + name;
        name = lexer_.take().text;
      }
      type = named(words);
    }
    std::vector<Type> around;
    while (lexer_.take_if("[")) {
      Type list{.kind = TypeKind::kArray, .align = type->align};
      if (lexer_.peek().kind == TokenKind::kNumber) {
        list.count = static_cast<std::uint64_t>(lexer_.take().number);
        if (list.count > kMostElements) {
          lexer_.fail("an array of more than " + std::to_string(kMostElements) + " elements");
        }
      } else {
        list.kind = TypeKind::kSequence;
        list.length = parse_path();
      }
      lexer_.expect("]");
      around.push_back(std::move(list));
      if (around.size() > 3) {
        lexer_.fail("arrays of arrays, deeper than 3");
      }
    }
    for (auto list = around.rbegin(); list != around.rend(); ++list) {
      list->depth = type->depth + 1;
      list->element = type;
      type = std::make_shared<Type>(std::move(*list));
    }
    return {plain(name), type};
  }

  struct FoundEvent {
    std::uint64_t stream;
    std::uint64_t id;
    EventClass event;
  };

  Lexer lexer_;
  bool big_endian_ = false;
  std::map<std::string, TypePtr> aliases_;
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
