// SPDX-License-Identifier: Apache-2.0
// Priorities, deadlines and overload policies of callbacks by their names in the ROS graph, for
// executors of rclcpp nodes. Input is untrusted. All functions may be called from several threads
// at once.
//
//   rclrt: 1
//   callbacks:
//     - {node: /lidar, timer: 0, priority: 8}              # the first timer of its default group
//     - {node: /lidar, group: 1, timer: 0, priority: 7}    # and of its first other group
//     - {node: /filter, subscription: /points, priority: 5, deadline_ms: 10, overload: keep_last}
//     - {node: /control, subscription: /filtered, priority: 9, max_age_ms: 50}
//     - {node: /control, subscription: /scan, max_age_ms: 50, stamped_by: lidar}
//     - {node: /filter, service: /filter/reset, priority: 1}
//     - {node: /planner, timer_period_ms: 100, priority: 3}   # the timers with this period
//     # all callbacks of the group that has the subscription:
//     - {node: /planner, subscription: /path, whole_group: true, priority: 6}
//     - {node: /filter, group: 1, priority: 4}             # the rest of a group
//     - {node: /filter, priority: 2}                       # the rest of a node
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"
#include "rclrt/yaml/diagnostics.hpp"

namespace rclrt::model {

/// The place of a callback in the ROS graph.
struct CallbackPlace {
  std::string node;       ///< fully qualified; empty: not known
  std::string kind;       ///< timer, subscription, service, client or waitable
  std::string name;       ///< topic or service; for a timer or waitable its index in its group
  std::size_t group = 0;  ///< index of its callback group in its node; 0: the default group

  auto operator<=>(const CallbackPlace&) const = default;
};

/// Returns, for each callback of the application, its place in the ROS graph; a sync has one place
/// per input. Callbacks without a group, or with the group kDefaultGroup, are in their node's
/// default group, which has index 0. The other groups of a node, and the timers of a group, are
/// counted in the order of the application. Throws std::out_of_range for a node that does not
/// exist.
RCLRT_MODEL_EXPORT std::vector<std::vector<CallbackPlace>> places_of(
    const Application& application);

/// The scope of an entry of the file.
enum class TimingScope { kNode, kGroup, kCallback };

/// One entry of a node priorities file: the callbacks that it matches, and their values.
struct RCLRT_MODEL_EXPORT NodeTiming {
  std::string node;
  std::optional<std::string> kind;   ///< none: the group, or the node
  std::string name;                  ///< of `kind`; empty for timers by their period
  std::optional<std::size_t> group;  ///< none: any; of timers and waitables 0 if not stated
  /// For kind timer, in place of an index: the period of the timers, in any group if `group` has no
  /// value.
  std::optional<std::chrono::nanoseconds> period;
  /// The entry is for all callbacks of each group that has a callback that `fits()`.
  bool whole_group = false;
  std::optional<int> priority;
  std::optional<std::chrono::nanoseconds> deadline;
  /// For a subscription or a timer, instead of a deadline: the largest age of its message's data,
  /// or of those that the timer samples, at its end.
  std::optional<std::chrono::nanoseconds> max_age;
  /// With `max_age` of a subscription: the host that stamps the data, by its name in `rclrt clock`.
  /// Empty: this host, or one with the same clock.
  std::string stamped_by;
  std::optional<Overload> overload;
  std::size_t line = 0;

  /// Returns kGroup for an entry with `whole_group`.
  TimingScope scope() const;
  /// Returns whether the entry matches the callback at `place`, or for `whole_group` the callback
  /// by which it identifies its group. `timer_period` is the period of a timer; 0: it is not known,
  /// and no entry with a period matches.
  bool fits(const CallbackPlace& place, std::chrono::nanoseconds timer_period = {}) const;

  bool operator==(const NodeTiming&) const = default;
};

/// Returns the entry as text for messages: "node /lidar, timer 0".
RCLRT_MODEL_EXPORT std::string to_string(const NodeTiming& timing);

/// Returns the time in milliseconds, exact and without an exponent: "0.5", "1333".
RCLRT_MODEL_EXPORT std::string milliseconds_text(std::chrono::nanoseconds time);

/// Either the entries, or at least one diagnostic in the order of the lines.
struct NodeTimingsResult {
  std::optional<std::vector<NodeTiming>> timings;
  std::vector<yaml::Diagnostic> diagnostics;
};

/// Reads the text of a node priorities file, or the section `callbacks` of a robot.yaml (see
/// robot.hpp); ignores the other sections of a robot.yaml. Refuses two entries that state the same
/// property of the same callbacks. Never throws on bad input (only std::bad_alloc).
RCLRT_MODEL_EXPORT NodeTimingsResult parse_node_timings(std::string_view text);

/// Loads a node priorities file. Throws yaml::FileError with every mistake and its position.
RCLRT_MODEL_EXPORT std::vector<NodeTiming> load_node_timings(const std::filesystem::path& file);

/// Returns whether callbacks of this kind may have an overload policy other than `queue`, so that
/// one instance replaces several messages. False for services and clients: a request that is not
/// taken now is only taken at the next request, so all later ones are late, too.
RCLRT_MODEL_EXPORT bool may_overload(std::string_view kind);

}  // namespace rclrt::model
