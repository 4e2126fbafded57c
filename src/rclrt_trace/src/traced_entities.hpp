// SPDX-License-Identifier: Apache-2.0
// The processes, nodes, callbacks, executors and threads of a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "traced_instance.hpp"

namespace rclrt::trace {

/// The trigger of a callback, as far as it is in the trace.
enum class TriggerKind : std::uint8_t { kTimer, kSubscription, kService, kOther };

/// A process. Processes in different spaces may have the same number.
struct TracedProcess {
  std::uint32_t space = 0;  ///< space in which its number is unique
  std::int64_t pid = 0;
  std::int64_t first_ns = 0;  ///< time of its first event; last_ns: of its last one
  std::int64_t last_ns = 0;
  std::uint32_t host = 0;  ///< number of its host
};

struct TracedNode {
  std::int64_t process = 0;  ///< index, as everywhere below
  std::string name;
  std::string name_space;
  std::int64_t created_ns = 0;
};

/// A topic that a callback takes.
struct TracedInput {
  std::uint32_t topic = kNone;
  std::size_t depth = 0;
};

/// A callback in the trace; several pointers in the trace may identify it. Optional members are
/// known only if the trace has rclrt's own events.
struct TracedCallback {
  std::int64_t process = 0;
  std::uint32_t node = kNone;
  TriggerKind kind = TriggerKind::kOther;
  std::string name{};  ///< rclrt's name, or that of a service; empty: none
  std::int64_t created_ns = 0;
  std::int64_t period_ns = 0;         ///< of a timer
  std::vector<TracedInput> inputs{};  ///< of a subscription; several inputs share the callback
  std::set<std::pair<std::uint32_t, std::uint32_t>> outputs{};  ///< input (or kNone), topic
  std::set<std::uint32_t> samples{};  ///< topics of which it takes messages while it runs
  std::optional<std::int64_t> sync_window_ns{};  ///< 0: equal stamps; none: no synchroniser
  std::optional<int> priority{};
  std::uint64_t group = 0;  ///< the same number for members of a group; 0: not known
  bool reentrant = false;
  std::int64_t deadline_ns = 0;
  std::uint32_t executor = kNone;
};

/// Returns the nominal release time for a run of an rcl timer: the first point of its grid
/// (creation time + n × period) after the start of the previous run; INT64_MIN: there is none. So a
/// late run keeps its nominal release, and releases that pass before it runs are skipped.
std::int64_t rcl_release_ns(const TracedCallback& timer, std::int64_t before_ns,
                            std::int64_t start_ns);

/// An executor of rclrt. Other executors are identified by their threads.
struct TracedExecutor {
  std::int64_t process = 0;
  std::string name;
  std::vector<int> cpus;
};

struct TracedThread {
  std::int64_t process = 0;
  std::int64_t tid = 0;
  std::string name;
};

/// Publications of a thread while it runs no callback.
struct OutsideWork {
  std::uint32_t thread = kNone;
  std::uint32_t topic = kNone;
  std::uint64_t count = 0;
};

/// CPU time of a process's threads without callbacks, since the first run of a callback.
struct OtherThreads {
  std::int64_t process = 0;
  std::size_t threads = 0;
  std::int64_t cpu_ns = 0;
};

}  // namespace rclrt::trace
