// SPDX-License-Identifier: Apache-2.0
#include "ctf_type_parser.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <utility>

#include "ctf_reference.hpp"

namespace rclrt::trace::ctf {

namespace {

constexpr int kDeepest = 32;  // types within types
constexpr std::uint64_t kMostElements = 1U << 20U;
constexpr std::uint64_t kLargestAlign = 1U << 20U;
constexpr std::size_t kMostLists = 3;  // arrays of arrays

}  // namespace

class TypeParser::Block {
 public:
  explicit Block(TypeParser& parser) : parser_(parser), before_(parser.hidden_.size()) {}
  ~Block() {
    while (parser_.hidden_.size() > before_) {
      auto& [name, type] = parser_.hidden_.back();
      if (type == nullptr) {
        parser_.aliases_.erase(name);
      } else {
        parser_.aliases_[name] = std::move(type);
      }
      parser_.hidden_.pop_back();
    }
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

 private:
  TypeParser& parser_;
  const std::size_t before_;
};

void TypeParser::name_type(const std::string& name, TypePtr type) {
  TypePtr& known = aliases_[name];
  hidden_.emplace_back(name, std::exchange(known, std::move(type)));
}

bool TypeParser::parse_declaration() {
  const std::string word = lexer.peek().kind == TokenKind::kWord ? lexer.peek().text : "";
  if (word == "typealias") {
    parse_alias();
  } else if (word == "typedef") {
    parse_typedef();
  } else if (word == "struct" || word == "enum" || word == "variant") {
    parse_type();
  } else {
    return false;
  }
  return true;
}

void TypeParser::parse_block(const OnValue& on_value, const OnType& on_type) {
  const Block block(*this);
  lexer.expect("{");
  while (!lexer.take_if("}")) {
    if (parse_declaration()) {
      lexer.expect(";");
      continue;
    }
    std::string key = lexer.expect_word();
    while (lexer.take_if(".")) {
      key += "." + lexer.expect_word();
    }
    if (lexer.take_if(":=")) {
      on_type(key, parse_type());
    } else {
      lexer.expect("=");
      on_value(key, parse_value());
    }
    lexer.expect(";");
  }
}

Value TypeParser::parse_value() {
  Value value;
  if (lexer.peek().kind == TokenKind::kNumber) {
    const Token token = lexer.take();
    value = {.number = token.number, .text = token.text};
  } else if (lexer.peek().kind == TokenKind::kText) {
    value.text = lexer.take().text;
  } else {
    value.text = lexer.expect_word();
    while (lexer.take_if(".")) {
      value.text += "." + lexer.expect_word();
    }
  }
  return value;
}

void TypeParser::parse_alias() {
  lexer.take();
  const TypePtr type = parse_type();
  lexer.expect(":=");
  std::string name = lexer.expect_word();
  while (lexer.peek().kind == TokenKind::kWord) {
    name += " " + lexer.take().text;
  }
  name_type(name, type);
}

void TypeParser::parse_typedef() {
  lexer.take();
  auto [name, type] = parse_declarator();
  if (name.empty()) {
    lexer.fail("'" + lexer.peek().text + "'; expected a name for the type");
  }
  name_type(name, std::move(type));
}

TypePtr TypeParser::parse_type() {
  if (depth_ >= kDeepest) {
    lexer.fail("the types are nested deeper than " + std::to_string(kDeepest));
  }
  ++depth_;
  TypePtr type = parse_type_within();
  --depth_;  // skipped by an exception, which ends the parse
  return type;
}

TypePtr TypeParser::parse_type_within() {
  const std::string word = lexer.peek().kind == TokenKind::kWord ? lexer.peek().text : "";
  if (word == "integer" || word == "floating_point") {
    return parse_number();
  }
  if (word == "string") {
    return parse_string();
  }
  if (word == "struct") {
    return parse_struct();
  }
  if (word == "variant") {
    return parse_variant();
  }
  if (word == "enum") {
    return parse_enum();
  }
  return named(lexer.expect_word());
}

TypePtr TypeParser::parse_string() {
  lexer.take();
  if (lexer.peek().text == "{") {
    parse_block([](const std::string&, const Value&) {}, [](const std::string&, const TypePtr&) {});
  }
  return std::make_shared<Type>(Type{.kind = TypeKind::kString, .align = 8});
}

TypePtr TypeParser::named(const std::string& name) const {
  const auto found = aliases_.find(name);
  if (found == aliases_.end()) {
    lexer.fail("the type '" + name + "' is not known");
  }
  return found->second;
}

TypePtr TypeParser::parse_number() {
  Type type{.kind = lexer.take().text == "integer" ? TypeKind::kInteger : TypeKind::kFloat,
            .big_endian = big_endian};
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
                            (value.text == "native" && big_endian);
        } else if (key == "map") {
          type.is_clock = value.text.starts_with("clock.");
        }
      },
      [](const std::string&, const TypePtr&) {});
  type.size = type.kind == TypeKind::kFloat ? exponent : type.size;
  if (type.size == 0 || type.size > 64) {
    lexer.fail((type.kind == TypeKind::kFloat ? "a floating_point of " : "an integer of ") +
               std::to_string(type.size) + " bits; expected 1 to 64");
  }
  type.align = checked_align(align.value_or(type.size % 8 == 0 ? 8 : 1));
  return std::make_shared<Type>(std::move(type));
}

std::uint64_t TypeParser::checked_align(std::uint64_t align) const {
  if (!std::has_single_bit(align) || align > kLargestAlign) {
    lexer.fail("an alignment of " + std::to_string(align) + "; expected a power of 2 up to " +
               std::to_string(kLargestAlign));
  }
  return align;
}

TypePtr TypeParser::parse_struct() {
  lexer.take();
  std::string name;
  if (lexer.peek().kind == TokenKind::kWord && lexer.peek().text != "align") {
    name = "struct " + lexer.take().text;
    if (lexer.peek().text != "{") {
      return named(name);
    }
  }
  Type type{.kind = TypeKind::kStruct, .members = parse_members()};
  for (const Member& member : type.members) {
    type.align = std::max(type.align, member.type->align);
  }
  if (lexer.peek().text == "align") {
    lexer.take();
    lexer.expect("(");
    const Token align = lexer.take();
    lexer.expect(")");
    type.align = std::max(type.align, checked_align(static_cast<std::uint64_t>(align.number)));
  }
  return keep(name, std::move(type));
}

TypePtr TypeParser::parse_variant() {
  lexer.take();
  std::string name;
  if (lexer.peek().kind == TokenKind::kWord) {
    name = "variant " + lexer.take().text;
  }
  Reference tag;
  if (lexer.take_if("<")) {
    tag = parse_reference(lexer);
    lexer.expect(">");
  }
  if (lexer.peek().text != "{") {
    Type type = *named(name);
    type.tag = tag.path.empty() ? type.tag : tag;
    return std::make_shared<Type>(std::move(type));
  }
  Type type{.kind = TypeKind::kVariant, .members = parse_members(), .tag = tag};
  return keep(name, std::move(type));
}

TypePtr TypeParser::parse_enum() {
  lexer.take();
  std::string name;
  if (lexer.peek().kind == TokenKind::kWord) {
    name = "enum " + lexer.take().text;
    if (lexer.peek().text != "{" && lexer.peek().text != ":") {
      return named(name);
    }
  }
  Type type = *(lexer.take_if(":") ? parse_type() : named("int"));
  if (type.kind != TypeKind::kInteger) {
    lexer.fail("an enumeration needs an integer type");
  }
  lexer.expect("{");
  std::int64_t next = 0;
  while (!lexer.take_if("}")) {
    parse_label(type, next);
    if (!lexer.take_if(",") && lexer.peek().text != "}") {
      lexer.fail("'" + lexer.peek().text + "'; expected ',' or '}'");
    }
  }
  return keep(name, std::move(type));
}

void TypeParser::parse_label(Type& type, std::int64_t& next) {
  const Token label = lexer.take();
  if (label.kind != TokenKind::kWord && label.kind != TokenKind::kText) {
    lexer.fail("'" + label.text + "'; expected a label");
  }
  std::int64_t first = next;
  std::int64_t last = next;
  if (lexer.take_if("=")) {
    first = last = lexer.take().number;
    if (lexer.take_if("...")) {
      last = lexer.take().number;
    }
  }
  type.labels.push_back({plain(label.text), first, last});
  next = last == std::numeric_limits<std::int64_t>::max() ? last : last + 1;
}

TypePtr TypeParser::keep(const std::string& name, Type type) {
  for (const Member& member : type.members) {
    type.depth = std::max(type.depth, member.type->depth + 1);
  }
  if (type.depth > kDeepest) {
    lexer.fail("the types are nested deeper than " + std::to_string(kDeepest));
  }
  auto kept = std::make_shared<const Type>(std::move(type));
  if (!name.empty()) {
    name_type(name, kept);
  }
  return kept;
}

std::vector<Member> TypeParser::parse_members() {
  const Block block(*this);
  lexer.expect("{");
  std::vector<Member> members;
  while (!lexer.take_if("}")) {
    if (const std::string word = lexer.peek().text; word == "typealias" || word == "typedef") {
      parse_declaration();
    } else if (auto [name, type] = parse_declarator(); !name.empty()) {
      members.push_back({plain(name), std::move(type)});
    }
    lexer.expect(";");
  }
  return members;
}

/// Reads a type and the name declared with it: "type name", "type name[4]" or "type name[length]".
/// The type may have several words. The returned name is empty if the text declares only a type:
/// "struct a { ... };".
std::pair<std::string, TypePtr> TypeParser::parse_declarator() {
  static constexpr auto kTypes = std::to_array<std::string_view>(
      {"integer", "floating_point", "string", "struct", "variant", "enum"});
  TypePtr type;
  std::string name;
  if (std::ranges::find(kTypes, lexer.peek().text) != kTypes.end()) {
    const bool can_be_declared = lexer.peek().text != "integer" && lexer.peek().text != "string";
    type = parse_type();
    if (can_be_declared && lexer.peek().text == ";") {
      return {"", type};
    }
    name = lexer.expect_word();
  } else {
    std::string words = lexer.expect_word();
    name = lexer.expect_word();
    while (lexer.peek().kind == TokenKind::kWord) {
      words += " " + name;
      name = lexer.take().text;
    }
    type = named(words);
  }
  return {name, parse_lists(std::move(type))};
}

/// Reads the lengths after a member's name, "[4]" or "[length]", if there are any.
TypePtr TypeParser::parse_lists(TypePtr type) {
  std::vector<Type> around;
  while (lexer.take_if("[")) {
    Type list{.kind = TypeKind::kArray, .align = type->align};
    if (lexer.peek().kind == TokenKind::kNumber) {
      list.count = static_cast<std::uint64_t>(lexer.take().number);
      if (list.count > kMostElements) {
        lexer.fail("an array of more than " + std::to_string(kMostElements) + " elements");
      }
    } else {
      list.kind = TypeKind::kSequence;
      list.length = parse_reference(lexer);
    }
    lexer.expect("]");
    around.push_back(std::move(list));
    if (around.size() > kMostLists) {
      lexer.fail("the arrays are nested deeper than " + std::to_string(kMostLists));
    }
  }
  for (auto list = around.rbegin(); list != around.rend(); ++list) {
    list->depth = type->depth + 1;
    list->element = type;
    type = std::make_shared<Type>(std::move(*list));
  }
  return type;
}

}  // namespace rclrt::trace::ctf
