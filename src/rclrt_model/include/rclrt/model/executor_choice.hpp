// SPDX-License-Identifier: Apache-2.0
// An executor as named in files and on command lines: its kind, and its own options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rclrt/model/executor_kind.hpp"
#include "rclrt/model/export.hpp"

namespace rclrt::model {

/// The condition under which an executor of kStaticOrder runs a set.
enum class SetTrigger {
  kAny,       ///< anything
  kAll,       ///< every timer and every subscription
  kCallback,  ///< one callback, by any of its inputs
};

/// An executor of some kind, with the options that only this kind has. The text form is the kind's
/// name and, after colons, the options with values other than their defaults, as in
/// `wait_set:threads=4`.
struct ExecutorChoice {
  ExecutorKind kind = ExecutorKind::kPreemptive;
  /// For kWaitSet: the number of threads that take work from one ready set, from 1 to kMaxThreads.
  unsigned threads = 1;
  /// For kWaitSet: the seed of an arbitrary order of the callbacks of one type, as in rclcpp since
  /// Jazzy. nullopt: the order of registration.
  std::optional<std::uint64_t> order_seed{};
  /// For kWaitSet: the order of StaticSingleThreadedExecutor, subscriptions before timers before
  /// clients before services; with one thread.
  bool subscriptions_first = false;
  /// For kEvents: timers have a thread of their own.
  bool timers_thread = false;
  /// For kStaticOrder: the trigger of a set.
  SetTrigger trigger = SetTrigger::kAny;
  /// For SetTrigger::kCallback: the callback's id. An executor without that callback runs a set
  /// when anything is ready.
  std::string trigger_callback{};
  /// For kStaticOrder: a set takes all of its messages before its first callback runs.
  bool logical_execution_time = false;

  static constexpr unsigned kMaxThreads = 64;

  ExecutorChoice() = default;
  /// Chooses a kind with its defaults. Implicit, because a kind by itself is a choice.
  ExecutorChoice(ExecutorKind of) : kind(of) {}  // NOLINT(google-explicit-constructor)

  /// Returns how many callbacks can run at one time. Only for kinds with the trait
  /// `one_at_a_time`.
  unsigned max_threads() const noexcept { return timers_thread ? 2 : threads; }

  bool operator==(const ExecutorChoice&) const = default;
};

/// Returns the traits of its kind. Throws as traits(ExecutorKind). Thread-safe.
inline const ExecutorTraits& traits(const ExecutorChoice& choice) { return traits(choice.kind); }

/// Returns the name in files and on command lines; equal choices have equal names. Throws
/// std::invalid_argument for a kind that is no enumerator. Thread-safe.
RCLRT_MODEL_EXPORT std::string name_of(const ExecutorChoice& choice);

/// Returns the name in reports. Throws as name_of does. Thread-safe.
RCLRT_MODEL_EXPORT std::string label_of(const ExecutorChoice& choice);

/// Returns the choice named by `text`: a kind, then options of that kind (ExecutorTraits::options),
/// each once and in any order. Throws std::invalid_argument that states the expected text.
/// Thread-safe.
RCLRT_MODEL_EXPORT ExecutorChoice parse_executor(std::string_view text);

/// Returns the reason why its options leave no bound, or nullopt if there are bounds. Throws as
/// name_of does. Thread-safe.
RCLRT_MODEL_EXPORT std::optional<std::string> why_no_bounds(const ExecutorChoice& choice);

/// Returns the callback that triggers the sets of `choice`, or nullopt if no single one does.
/// Throws std::invalid_argument when the application has no callback of this id. Thread-safe.
RCLRT_MODEL_EXPORT std::optional<std::size_t> trigger_callback(const Application& application,
                                                               const ExecutorChoice& choice);

}  // namespace rclrt::model
