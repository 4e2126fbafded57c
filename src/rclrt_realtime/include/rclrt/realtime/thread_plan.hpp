// SPDX-License-Identifier: Apache-2.0
// Which threads get which scheduling: stated in one place, applied, and verified in /proc.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread_origin.hpp"

namespace rclrt::realtime {

/// Scheduling for every thread that each of its patterns matches, with `*`, `?` and `[...]` as in
/// fnmatch(3). An empty pattern matches every thread.
struct ThreadRule {
  std::string name{};       ///< of the thread, see `thread_name_matches`
  Scheduling scheduling{};  ///< what the thread gets
  std::string library{};    ///< of ThreadOrigin::library
  std::string function{};   ///< of ThreadOrigin::function
  bool keep = false;        ///< leaves the thread as it is; `scheduling` then has no meaning

  bool operator==(const ThreadRule&) const = default;
};

/// Returns the patterns of a rule, for people: "dds.*", or "library libfoo*, function *loop*"
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::string to_string(const ThreadRule& rule);

/// Returns whether the pattern of a rule, as fnmatch(3) reads it, fits the name of a thread. Of a
/// name the kernel keeps 15 characters, so a pattern that is a plain name counts with its first 15
/// only.
RCLRT_REALTIME_EXPORT RCLRT_SETUP bool thread_name_matches(const std::string& pattern,
                                                           const std::string& name);

/// What became of one thread that a rule is for.
struct PlannedThread {
  pid_t tid{};
  std::string name;
  std::size_t rule{};   ///< its index in the plan
  Scheduling wanted{};  ///< by the rule; what it has where the rule keeps that
  Scheduling found{};   ///< in /proc, afterwards
  std::string problem;  ///< empty when the thread has what is wanted; otherwise cause and fix
  ThreadOrigin origin{};

  bool operator==(const PlannedThread&) const = default;
};

/// One thread that no rule is for.
struct UnplannedThread {
  pid_t tid{};
  std::string name;
  Scheduling found{};
  ThreadOrigin origin{};

  bool operator==(const UnplannedThread&) const = default;
};

/// What applying a plan came to.
struct RCLRT_REALTIME_EXPORT ThreadPlanReport {
  std::vector<PlannedThread> threads;      ///< by thread id
  std::vector<UnplannedThread> unplanned;  ///< by thread id
  std::vector<std::string> unused_rules;   ///< rules that were no thread's first match

  /// Returns whether every rule is used, and every thread that has one is as the rule says.
  RCLRT_SETUP bool ok() const { return problems().empty(); }

  /// Returns a line for each thread that is not as planned, and for each rule without a thread.
  RCLRT_SETUP std::vector<std::string> problems() const;
};

/// Rules in the order in which they are tried: the first that matches a thread is its only one. A
/// thread of unknown origin gets nothing, where a rule before asks for the origin. Threads that end
/// meanwhile appear in no report. All functions are thread-safe.
struct RCLRT_REALTIME_EXPORT ThreadPlan {
  std::vector<ThreadRule> rules;

  /// Gives the threads of this process (or those of the list) what their rules state, then reads
  /// from /proc what they have. Refusals are told in the report.
  RCLRT_SETUP ThreadPlanReport apply() const;
  RCLRT_SETUP ThreadPlanReport apply(const std::vector<pid_t>& threads) const;

  /// Compares without changing anything.
  RCLRT_SETUP ThreadPlanReport verify() const;
  RCLRT_SETUP ThreadPlanReport verify(const std::vector<pid_t>& threads) const;

  bool operator==(const ThreadPlan&) const = default;
};

/// Remembers the threads that exist when it is made, to find those that somebody creates after: a
/// middleware's, a driver library's. Their names may be unknown, and they inherit the scheduling
/// of their creator.
///
///     const ThreadsBefore before;
///     Middleware middleware;
///     const auto report = ThreadPlan{{{"*", {Policy::kFifo, 40}}}}.apply(before.new_threads());
class RCLRT_REALTIME_EXPORT ThreadsBefore {
 public:
  RCLRT_SETUP ThreadsBefore() : ids_(thread_ids()) {}

  /// Returns the threads that exist now and did not before, ascending.
  RCLRT_SETUP std::vector<pid_t> new_threads() const;

 private:
  std::vector<pid_t> ids_;  // ascending
};

}  // namespace rclrt::realtime
