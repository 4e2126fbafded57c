// SPDX-License-Identifier: Apache-2.0
// The types of a trace's metadata.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ctf_lexer.hpp"
#include "ctf_types.hpp"

namespace rclrt::trace::ctf {

/// The value on the right of "=".
struct Value {
  std::optional<std::int64_t> number;
  std::string text;  // words joined by dots, or a quoted text
};

/// Parses types and the blocks of declarations. Keeps the types that have names.
class TypeParser {
 public:
  TypeParser(std::string_view text, bool native_is_big_endian)
      : lexer(text), big_endian(native_is_big_endian) {}

  Lexer lexer;
  bool big_endian;  ///< the trace's byte order, for integers that do not state their own

  using OnValue = std::function<void(const std::string& key, const Value& value)>;
  using OnType = std::function<void(const std::string& key, const TypePtr& type)>;

  /// Reads "{ a.b = value; c := type; }": calls `on_value` or `on_type` for each.
  void parse_block(const OnValue& on_value, const OnType& on_type);
  /// Reads a declaration of a type: "typealias TYPE := NAME", "typedef TYPE NAME" or "struct NAME {
  /// ... }". Returns false if the next text is none of these.
  bool parse_declaration();
  /// Reads a type.
  TypePtr parse_type();

 private:
  TypePtr parse_type_within();
  Value parse_value();
  TypePtr named(const std::string& name) const;
  TypePtr parse_number();
  TypePtr parse_string();
  TypePtr parse_struct();
  TypePtr parse_variant();
  TypePtr parse_enum();
  void parse_label(Type& type, std::int64_t& next);
  std::vector<Member> parse_members();
  std::pair<std::string, TypePtr> parse_declarator();
  TypePtr parse_lists(TypePtr element);
  void parse_alias();
  void parse_typedef();
  void name_type(const std::string& name, TypePtr type);
  std::uint64_t checked_align(std::uint64_t align) const;
  TypePtr keep(const std::string& name, Type type);

  /// Removes the names declared within a block, at its end.
  class Block;

  std::map<std::string, TypePtr> aliases_;
  std::vector<std::pair<std::string, TypePtr>> hidden_;  // a name's outer type; may be null
  int depth_ = 0;                                        // number of types around the next one
};

}  // namespace rclrt::trace::ctf
