// SPDX-License-Identifier: Apache-2.0
// What an application is: executors, nodes, callbacks, chains, topics and threads. Plain values,
// no ROS. `parse.hpp` makes them from an app.yaml and has then checked everything promised below.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rclrt/model/export.hpp"
#include "rclrt/model/thread_plan.hpp"

namespace rclrt::model {

/// The unit of all times of the model.
using Nanoseconds = std::chrono::nanoseconds;

/// What triggers a callback.
enum class CallbackKind { kTimer, kSubscription, kSync };

/// What a timer does when its callback is still busy at the next release.
enum class OverrunPolicy {
  kCatchUp,  ///< every release runs, late ones one after the other
  kSkip,     ///< missed releases are dropped, the phase stays
  kRebase,   ///< the next period starts when the late one ran
};

/// How a sync pairs messages: by equal stamps, or by the nearest within a window.
enum class SyncPolicy { kExact, kApproximate };
/// What happens to releases while earlier ones have not run.
enum class Overload { kQueue, kKeepLast, kSkipIfRunning };
/// Of a subscription's quality of service.
enum class Reliability { kReliable, kBestEffort };

/// An executor, and the CPUs its threads may use; empty: every allowed one.
struct Executor {
  std::string name;
  std::vector<int> cpus;  ///< distinct CPU numbers; empty: all CPUs
  bool operator==(const Executor&) const = default;
};

/// A node, and the executor that runs its callbacks.
struct Node {
  std::string name;        ///< unique in the application
  std::string name_space;  ///< absolute, "/" by default
  std::size_t executor{};  ///< index into Application::executors
  bool operator==(const Node&) const = default;
};

/// Releases by time: at offset + n x period.
struct Timer {
  Nanoseconds period{};
  Nanoseconds offset{};
  OverrunPolicy overrun{OverrunPolicy::kCatchUp};
  bool offset_stated{};  ///< the file gives the offset: the analysis may count on it
  bool operator==(const Timer&) const = default;
};

/// Releases by the messages of a topic.
struct Subscription {
  std::string topic;
  std::size_t depth{};
  Reliability reliability{Reliability::kReliable};
  bool intra_process{};  ///< messages from within the process come by reference
  bool operator==(const Subscription&) const = default;
};

/// Runs once for each pair of messages, one from each topic.
struct Sync {
  std::array<std::string, 2> topics;
  SyncPolicy policy{SyncPolicy::kApproximate};
  Nanoseconds window{};  ///< how far apart two stamps may be; zero for SyncPolicy::kExact
  std::size_t depth{};
  bool operator==(const Sync&) const = default;
};

/// User code: what triggers it, how long it takes, what it publishes.
struct Callback {
  std::string id;      ///< unique in the application
  std::size_t node{};  ///< index into Application::nodes
  std::variant<Timer, Subscription, Sync> trigger;
  Nanoseconds wcet{};  ///< worst-case execution time
  std::vector<std::string> publishes;
  std::optional<std::string> group;     ///< callbacks of one group of one node exclude each other
  std::optional<int> priority;          ///< only when the file gives one: see effective_priority()
  Overload overload{Overload::kQueue};  ///< other than kQueue only for timers and subscriptions
  std::optional<Nanoseconds> deadline{};  ///< of each instance, from its release

  CallbackKind kind() const { return static_cast<CallbackKind>(trigger.index()); }

  bool operator==(const Callback&) const = default;
};

/// A path through the graph that starts at a timer.
struct Chain {
  std::string id;                      ///< unique in the application
  std::vector<std::size_t> callbacks;  ///< indices into Application::callbacks; each one once
  int priority{};                      ///< a higher number is more urgent
  Nanoseconds deadline{};              ///< from the timer's nominal release
  bool operator==(const Chain&) const = default;
};

/// A topic of which more is stated than its name.
struct Topic {
  std::string name;  ///< as the callbacks write it
  std::size_t size_bytes{};
  bool operator==(const Topic&) const = default;
};

/// The whole application. A parsed one is consistent: every index is valid, the graph has no cycle,
/// every topic that is read is published, every chain is a path that starts at a timer.
/// The functions below also accept an inconsistent one made by hand; they throw std::out_of_range
/// for an index without a callback.
struct RCLRT_MODEL_EXPORT Application {
  std::string name;
  std::string description;
  std::vector<Executor> executors;
  std::vector<Node> nodes;
  std::vector<Callback> callbacks;
  std::vector<Chain> chains;
  std::vector<Topic> topics;  ///< every topic of the graph, in order of first appearance
  /// Scheduling of threads that are not rclrt's own. The name is "middleware": all that it created.
  std::vector<ThreadRule> threads;

  /// Returns the callback's own priority, else the highest of the chains it is on, else 0.
  int effective_priority(std::size_t callback) const;

  /// Returns the period of the timer that starts the chain; zero when it does not start with a
  /// timer.
  Nanoseconds period(const Chain& chain) const;

  /// Returns the callbacks that take a message this one publishes: ascending, each once.
  std::vector<std::size_t> successors(std::size_t callback) const;

  /// Returns the releases per second of each callback: a timer's own rate; a subscription's is the
  /// sum over its publishers; a sync's is that of the slower input. Zero for callbacks on or behind
  /// a cycle.
  std::vector<double> rates() const;

  /// Returns the share of one CPU that the callbacks need together: the sum of WCET times rate.
  double utilisation() const;

  /// Returns the least common multiple of the timers' periods: zero without timers, and
  /// Nanoseconds::max() when the true value does not fit.
  Nanoseconds hyperperiod() const;

  bool operator==(const Application&) const = default;
};

/// Returns the topics whose messages trigger the callback: none for a timer, two for a sync.
RCLRT_MODEL_EXPORT std::vector<std::string> inputs(const Callback& callback);

}  // namespace rclrt::model
