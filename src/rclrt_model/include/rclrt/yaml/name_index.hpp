// SPDX-License-Identifier: Apache-2.0
// The names that one section of the file declares.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/export.hpp"
#include "rclrt/yaml/fields.hpp"

namespace rclrt::yaml {

/// The index of an unresolved reference, which was reported.
inline constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);

/// Names that one section declares and other sections refer to.
class RCLRT_MODEL_EXPORT NameIndex {
 public:
  /// Makes an index of named entries. For messages, `what` is the kind of an entry ("callback"),
  /// and `section` the key under which entries are declared.
  NameIndex(std::string_view what, std::string_view section) : what_(what), section_(section) {}

  /// Assigns the next index to the name; reports a name that already has an index. `made`: the
  /// entry's own name in the report, if the file does not state it.
  void add(const std::string& name, Position at, Context& context, const std::string& made = "");

  /// Gives the next index to an entry of which the name cannot be read. From then on unknown names
  /// are not reported, because each of them may be the name of that entry.
  void add_unreadable();

  /// Assumes that the section is missing: no name is known and none is reported.
  void assume_missing() { complete_ = false; }

  /// Returns the index of the name; reports a name that is not declared.
  std::size_t resolve(const std::string& name, Position at, Context& context) const;

  std::size_t size() const { return size_; }

 private:
  struct Entry {
    std::size_t index;
    Position at;
  };
  std::string what_;
  std::string section_;
  std::map<std::string, Entry, std::less<>> entries_;  // not a hash table: its keys are hostile
  std::vector<std::string_view> names_;
  std::size_t size_ = 0;
  bool complete_ = true;
};

}  // namespace rclrt::yaml
