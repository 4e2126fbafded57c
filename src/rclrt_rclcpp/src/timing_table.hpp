// SPDX-License-Identifier: Apache-2.0
// The stated priorities, deadlines and overload policies of entities.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "entity_entry.hpp"

namespace rclrt_rclcpp {

/// A callback as the entries of a file describe it.
struct Described {
  Place place;
  std::chrono::nanoseconds period{};  ///< of a timer; otherwise 0
};

/// Entries of a file.
using FileEntries = std::vector<const rclrt::model::NodeTiming*>;

/// The timings that a priorities file and the code state for nodes, groups and entities. The
/// registry's lock guards it.
class TimingTable {
 public:
  /// Reads the priorities file. `process` selects the part of a file with several processes. If the
  /// path is empty, there is no file. Throws std::invalid_argument.
  explicit TimingTable(const std::filesystem::path& file, const std::string& process = {});

  /// Returns whether the file has an entry for the whole group of a callback.
  bool has_whole_groups() const;
  /// Returns those entries of the file that are for the whole group with these callbacks.
  FileEntries whole_group_entries(const std::vector<Described>& members) const;
  /// Returns the timing of an entity. The timing of its group overrides that of its node, and the
  /// entity's own timing overrides both. For each of the three, the file overrides the code.
  /// `of_group`: the result of whole_group_entries() for the group of the entity.
  Timing timing_of(const Key& entity, const Described& described, const Key& group,
                   const FileEntries& of_group, const Key& node) const;
  /// Sets the timing of `part` (a node, group or entity) in code: only the members of `timing` that
  /// have a value. Returns the previous timing.
  Timing set(const Key& part, const Timing& timing);
  /// Takes back a `set` that returned `before`.
  void restore(const Key& part, const Timing& before) { set_[part] = before; }
  void erase_expired() { rclrt_rclcpp::erase_expired(set_); }

  /// Returns the entries of the file that match none of `entries`, each as "file:line: what is
  /// wrong". `with_guess`: with a similar name as a suggestion.
  std::vector<std::string> unmatched(const Entries& entries, bool with_guess) const;

 private:
  const std::filesystem::path file_;
  const std::vector<rclrt::model::NodeTiming> stated_;  // in the file
  WeakMap<Timing> set_;                                 // in code
};

}  // namespace rclrt_rclcpp
