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
#include <vector>

#include "ctf_lexer.hpp"
#include "ctf_types.hpp"

namespace rclrt::trace::ctf {

/// The value on the right of "=".
struct Value {
  std::optional<std::int64_t> number;
  std::string text;  // words joined by dots, or a text
};

/// Parses types and the blocks that declarations consist of, and knows the types that have names.
class TypeParser {
 public:
  explicit TypeParser(std::string_view text) : lexer(text) {}

  Lexer lexer;
  bool big_endian = false;  ///< of the trace: of integers that do not say

  using OnValue = std::function<void(const std::string& key, const Value& value)>;
  using OnType = std::function<void(const std::string& key, const TypePtr& type)>;

  /// Reads "{ a.b = value; c := type; }": calls `on_value` or `on_type` for each.
  void parse_block(const OnValue& on_value, const OnType& on_type);
  /// Reads "typealias TYPE := NAME".
  void parse_alias();
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
  Member parse_member();
  TypePtr parse_lists(TypePtr element);
  std::string parse_path();
  std::uint64_t checked_align(std::uint64_t align) const;
  TypePtr keep(const std::string& name, Type type);

  std::map<std::string, TypePtr> aliases_;
  int depth_ = 0;  // within how many types the next one is
};

}  // namespace rclrt::trace::ctf
