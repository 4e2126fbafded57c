// SPDX-License-Identifier: Apache-2.0
// The stated priorities, deadlines and overload policies of entities.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "entity_entry.hpp"

namespace rclrt_rclcpp {

/// Timings of nodes, groups and entities: from a node priorities file, and from code. Guarded by
/// the registry's lock.
class TimingTable {
 public:
  /// Reads the file, or the part for `process` of a file with several processes; an empty path:
  /// there is none. Throws std::invalid_argument.
  explicit TimingTable(const std::filesystem::path& file, const std::string& process = {});

  /// Returns the timing of an entity. The widest comes first (node, group, entity), and a narrower
  /// one overrides it; at each of them the file overrides the code.
  Timing timing_of(const Key& entity, const Place& place, const Key& group, const Key& node) const;
  /// Sets in code the members that `timing` has, for a node, group or entity. Returns the previous
  /// ones.
  Timing set(const Key& part, const Timing& timing);
  /// Takes back a `set` that returned `before`.
  void restore(const Key& part, const Timing& before) { set_[part] = before; }
  void erase_expired() { rclrt_rclcpp::erase_expired(set_); }

  /// Returns the entries of the file that match none of these, as "file:line: what"; `with_guess`:
  /// with a suggestion.
  std::vector<std::string> unmatched(const Entries& entries, bool with_guess) const;

 private:
  const std::filesystem::path file_;
  const std::vector<rclrt::model::NodeTiming> stated_;  // in the file
  WeakMap<Timing> set_;                                 // in code
};

}  // namespace rclrt_rclcpp
