// SPDX-License-Identifier: Apache-2.0
// Scheduling of threads by their name or origin: the values, and the files that state them.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/export.hpp"
#include "rclrt/yaml/file.hpp"

namespace rclrt::model {

/// The kernel's scheduling policies SCHED_OTHER, SCHED_FIFO, SCHED_RR and SCHED_DEADLINE.
enum class Policy { kOther, kFifo, kRoundRobin, kDeadline };

/// A reservation of CPU time under SCHED_DEADLINE: in each `period`, the thread gets `runtime` of
/// CPU time within `deadline` of the period's start. 1024 ns <= runtime <= deadline <= period.
struct Reservation {
  std::chrono::nanoseconds runtime{};
  std::chrono::nanoseconds deadline{};
  std::chrono::nanoseconds period{};

  bool operator==(const Reservation&) const = default;
};

/// The scheduling of a thread.
struct Scheduling {
  Policy policy = Policy::kOther;
  int priority = 0;           ///< FIFO and RR: 1 to 98, higher is more urgent; otherwise 0
  std::vector<int> cpus{};    ///< ascending; empty: unchanged
  std::optional<int> nice{};  ///< OTHER: -20 to 19; nullopt: unchanged
  Reservation reservation{};  ///< DEADLINE, which also needs `cpus` to be empty

  bool operator==(const Scheduling&) const = default;
};

/// Sets the scheduling of every thread that all three patterns (`name`, `library`, `function`)
/// match by fnmatch(3). An empty pattern matches every thread; at least one is not empty.
struct ThreadRule {
  std::string name{};       ///< the thread's; "middleware" alone: see middleware.hpp
  Scheduling scheduling{};  ///< scheduling of the thread
  std::string library{};    ///< the file with the code that the thread was started to run
  std::string function{};   ///< the function, or type of function object, it was started to run
  bool keep = false;        ///< leaves the thread as it is; `scheduling` then has no meaning

  bool operator==(const ThreadRule&) const = default;
};

/// Rules in the order in which they are tried: a thread gets only the first rule that matches it.
struct ThreadPlan {
  std::vector<ThreadRule> rules;

  bool operator==(const ThreadPlan&) const = default;
};

/// Reads a plan for the scheduling of threads from a YAML file:
///
///     rclrt: 1
///     threads:
///       - {name: control, policy: fifo, priority: 80, cpus: [1]}
///       - {name: "dds.*", policy: rr, priority: 40}
///       - {name: camera, policy: deadline, runtime_ms: 2, deadline_ms: 10, period_ms: 20}
///       - {name: middleware, policy: fifo, priority: 30}
///       - {function: "*costmap*", name: "nav*", policy: other}
///       - {name: "log*", policy: other, nice: 10}
///       - {name: "gpu*", policy: keep}
///
/// `name` is the thread's name. `library` and `function` state the code with which the thread was
/// started. Throws yaml::FileError, a std::runtime_error with one "file:line:column: what is wrong;
/// expected what" per line. A program prints the error's text and ends with exit code 2.
/// Thread-safe.
RCLRT_MODEL_EXPORT ThreadPlan load_thread_plan(const std::filesystem::path& file);

/// Reads a plan from its YAML text. `file` is the file's name in error messages only. Throws as
/// `load_thread_plan` does. Thread-safe.
RCLRT_MODEL_EXPORT ThreadPlan parse_thread_plan(std::string_view text,
                                                const std::filesystem::path& file);

}  // namespace rclrt::model
