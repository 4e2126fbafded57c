// SPDX-License-Identifier: Apache-2.0
// Strings that a trace holds once and its packets refer to by number.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "perfetto_fields.hpp"
#include "protobuf_writer.hpp"

namespace rclrt::realtime {

/// One kind of interned strings. Numbers start at 1: 0 means "none" in a trace.
class InternedStrings {
 public:
  explicit InternedStrings(std::uint32_t field) : field_(field) {}

  /// Returns the number of `text`; the next write_new() writes a new text.
  std::uint64_t number_of(std::string_view text) {
    const auto known = numbers_.find(text);
    if (known != numbers_.end()) {
      return known->second;
    }
    const auto entry = numbers_.emplace(text, numbers_.size() + 1).first;
    new_.push_back(&*entry);
    return entry->second;
  }

  bool has_new() const { return !new_.empty(); }

  /// Adds the texts that are new since the last call to an InternedData message.
  void write_new(ProtobufWriter& writer) {
    for (const Entry* entry : new_) {
      writer.message(field_, [&] {
        writer.unsigned_integer(perfetto_fields::interned_data::kIid, entry->second);
        writer.string(perfetto_fields::interned_data::kName, entry->first);
      });
    }
    new_.clear();
  }

 private:
  using Map = std::map<std::string, std::uint64_t, std::less<>>;
  using Entry = Map::value_type;

  std::uint32_t field_;
  Map numbers_;
  std::vector<const Entry*> new_;
};

}  // namespace rclrt::realtime
