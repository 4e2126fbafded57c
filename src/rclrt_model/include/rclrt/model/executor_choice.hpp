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
  kCallback,  ///< any input of one callback
};

/// A kind of executor, and the values of the options that only this kind has. Its text form is the
/// kind's name, followed by the options that differ from their defaults after colons, as in
/// `wait_set:threads=4`.
struct ExecutorChoice {
  ExecutorKind kind = ExecutorKind::kPreemptive;
  /// For kWaitSet: the number of threads that take work from one ready set, from 1 to kMaxThreads.
  unsigned threads = 1;
  /// For kWaitSet: the seed of an arbitrary order in which ready callbacks of one type (all timers,
  /// all subscriptions, ...) run, as in rclcpp since Jazzy. nullopt: the order of registration.
  std::optional<std::uint64_t> order_seed{};
  /// For kWaitSet with one thread: ready callbacks run in the order of rclcpp's
  /// StaticSingleThreadedExecutor: subscriptions, then timers, clients, services.
  bool subscriptions_first = false;
  /// For kEvents: timers have a thread of their own.
  bool timers_thread = false;
  /// For kStaticOrder: the trigger of a set.
  SetTrigger trigger = SetTrigger::kAny;
  /// For SetTrigger::kCallback: the id of the callback that must be ready before a set runs. An
  /// executor that does not run that callback runs a set when anything is ready.
  std::string trigger_callback{};
  /// For kStaticOrder: a set takes all of its messages before its first callback runs.
  bool logical_execution_time = false;

  static constexpr unsigned kMaxThreads = 64;

  ExecutorChoice() = default;
  /// Chooses a kind with its defaults. Implicit, because a kind by itself is a choice.
  ExecutorChoice(ExecutorKind of) : kind(of) {}  // NOLINT(google-explicit-constructor)

  /// Returns how many callbacks can run at one time. Only meaningful for kinds with
  /// ExecutorTraits::one_at_a_time.
  unsigned max_threads() const noexcept { return timers_thread ? 2 : threads; }

  bool operator==(const ExecutorChoice&) const = default;
};

/// Returns the traits of its kind. Throws as traits(ExecutorKind). Thread-safe.
inline const ExecutorTraits& traits(const ExecutorChoice& choice) { return traits(choice.kind); }

/// Returns the executor's name in files and on command lines, such as `wait_set:threads=4`. Equal
/// choices have equal names. Throws std::invalid_argument if the kind is no enumerator of
/// ExecutorKind. Thread-safe.
RCLRT_MODEL_EXPORT std::string name_of(const ExecutorChoice& choice);

/// Returns the name in reports. Throws as name_of does. Thread-safe.
RCLRT_MODEL_EXPORT std::string label_of(const ExecutorChoice& choice);

/// Reads an executor's name as name_of() writes it: a kind, then options of that kind
/// (ExecutorTraits::options) after colons, each at most once and in any order. Throws
/// std::invalid_argument with a message that states what was expected. Thread-safe.
RCLRT_MODEL_EXPORT ExecutorChoice parse_executor(std::string_view text);

/// Returns the reason why the options of `choice` exclude response-time bounds, or nullopt if there
/// are bounds. Throws as name_of() does. Thread-safe.
RCLRT_MODEL_EXPORT std::optional<std::string> why_no_bounds(const ExecutorChoice& choice);

/// Returns the index of the callback that must be ready before a set of `choice` runs; nullopt
/// unless the trigger is SetTrigger::kCallback. Throws std::invalid_argument if the application has
/// no callback of this id. Thread-safe.
RCLRT_MODEL_EXPORT std::optional<std::size_t> trigger_callback(const Application& application,
                                                               const ExecutorChoice& choice);

}  // namespace rclrt::model
