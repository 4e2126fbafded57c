// SPDX-License-Identifier: Apache-2.0
// Which priority, deadline and overload policy is stated for which entity.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "entity_entry.hpp"

namespace rclrt_rclcpp {

/// What a node priorities file states, and what code sets: of nodes, groups and entities. Guarded
/// by the registry's lock.
class TimingTable {
 public:
  /// Reads the file, or of one with several processes that of `process`; an empty path: there is
  /// none. Throws std::invalid_argument.
  explicit TimingTable(const std::filesystem::path& file, const std::string& process = {});

  /// Returns what is stated for an entity: the widest first (node, group, entity); at each of them
  /// what the file says goes before what code says.
  Timing timing_of(const Key& entity, const Place& place, const Key& group, const Key& node) const;
  /// Sets in code what `timing` has of a node, group or entity. Returns what was set before.
  Timing set(const Key& part, const Timing& timing);
  /// Takes back a `set` that returned `before`.
  void restore(const Key& part, const Timing& before) { set_[part] = before; }
  void erase_expired() { rclrt_rclcpp::erase_expired(set_); }

  /// Returns the entries of the file that fit none of these, as "file:line: what"; `with_guess`:
  /// and what may be meant.
  std::vector<std::string> unmatched(const Entries& entries, bool with_guess) const;

 private:
  const std::filesystem::path file_;
  const std::vector<rclrt::model::NodeTiming> stated_;  // in the file
  WeakMap<Timing> set_;                                 // in code
};

}  // namespace rclrt_rclcpp
