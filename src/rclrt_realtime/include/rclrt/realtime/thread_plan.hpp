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

/// A rule of a ThreadPlan: the scheduling of every thread that matches all of its patterns. A
/// pattern may contain `*`, `?` and `[...]` as in fnmatch(3). An empty pattern matches every
/// thread.
struct ThreadRule {
  std::string name{};       ///< pattern of its name, see `thread_name_matches`
  Scheduling scheduling{};  ///< what the thread gets
  std::string library{};    ///< pattern of ThreadOrigin::library
  std::string function{};   ///< pattern of ThreadOrigin::function
  bool keep = false;        ///< leaves the thread as it is; `scheduling` then has no meaning

  bool operator==(const ThreadRule&) const = default;
};

/// Returns the patterns of a rule as readable text: "dds.*", or "library libfoo*, function *loop*"
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::string to_string(const ThreadRule& rule);

/// Returns whether the pattern of a rule matches the name of a thread, as in fnmatch(3). The kernel
/// keeps only 15 characters of a name, so a pattern that is a plain name is compared by its first
/// 15 characters.
RCLRT_REALTIME_EXPORT RCLRT_SETUP bool thread_name_matches(const std::string& pattern,
                                                           const std::string& name);

/// The result for one thread that a rule matches.
struct PlannedThread {
  pid_t tid{};
  std::string name;
  std::size_t rule{};   ///< its index in the plan
  Scheduling wanted{};  ///< by the rule; as found if the rule keeps the thread
  Scheduling found{};   ///< read from /proc afterwards
  std::string problem;  ///< empty if the thread has the wanted scheduling; otherwise cause and fix
  ThreadOrigin origin{};

  bool operator==(const PlannedThread&) const = default;
};

/// One thread that no rule matches.
struct UnplannedThread {
  pid_t tid{};
  std::string name;
  Scheduling found{};
  ThreadOrigin origin{};

  bool operator==(const UnplannedThread&) const = default;
};

/// The result of applying a plan.
struct RCLRT_REALTIME_EXPORT ThreadPlanReport {
  std::vector<PlannedThread> threads;      ///< by thread id
  std::vector<UnplannedThread> unplanned;  ///< by thread id
  std::vector<std::string> unused_rules;   ///< rules that are the first match of no thread

  /// Returns true if every rule was applied to a thread, and every thread that matches a rule has
  /// the scheduling of the rule.
  RCLRT_SETUP bool ok() const { return problems().empty(); }

  /// Returns the problems, one line for each: threads that do not have the scheduling of their
  /// rule, and rules that match no thread. Empty: no problem.
  RCLRT_SETUP std::vector<std::string> problems() const;
};

/// Scheduling rules for the threads of this process, in order of precedence: only the first rule
/// that matches a thread applies to it. A rule may depend on the library or function that created
/// the thread. If that origin is not known, and a rule before the first matching one depends on it,
/// the thread gets no rule. A ThreadPlanReport omits threads that ended while it was made. All
/// functions are thread-safe.
struct RCLRT_REALTIME_EXPORT ThreadPlan {
  std::vector<ThreadRule> rules;

  /// Applies the rules to all threads of this process, or only to the listed ones, and then reads
  /// their scheduling from /proc. The report contains the changes that the kernel refused.
  RCLRT_SETUP ThreadPlanReport apply() const;
  RCLRT_SETUP ThreadPlanReport apply(const std::vector<pid_t>& threads) const;

  /// Compares without changing anything.
  RCLRT_SETUP ThreadPlanReport verify() const;
  RCLRT_SETUP ThreadPlanReport verify(const std::vector<pid_t>& threads) const;

  bool operator==(const ThreadPlan&) const = default;
};

/// A list of the threads that exist when this object is made, to find the threads that are created
/// later, for example by a middleware or a driver library. The names of such threads may be
/// unknown, and they inherit the scheduling of their creator.
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
