// SPDX-License-Identifier: Apache-2.0
// The model of an application: executors, nodes, callbacks, chains, topics and threads. Plain
// values, no ROS. `parse.hpp` makes them from an app.yaml, and checks all properties that are
// promised below.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rclrt/model/export.hpp"
#include "rclrt/model/network.hpp"
#include "rclrt/model/thread_plan.hpp"

namespace rclrt::model {

/// The unit of all times of the model.
using Nanoseconds = std::chrono::nanoseconds;

/// The kind of event that triggers a callback.
enum class CallbackKind { kTimer, kSubscription, kSync, kEvent };

/// The behaviour of a timer when its callback is still busy at the next release.
enum class OverrunPolicy {
  kCatchUp,  ///< every release runs, late ones one after the other
  kSkip,     ///< missed releases are dropped, the phase stays
  kRebase,   ///< the next period starts when the late one ran
};

/// The messages that a sync matches: equal stamps, or the nearest within a window.
enum class SyncPolicy { kExact, kApproximate };
/// The behaviour at a release while earlier releases have not run.
enum class Overload { kQueue, kKeepLast, kSkipIfRunning };
/// The reliability in a subscription's quality of service.
enum class Reliability { kReliable, kBestEffort };
/// The meaning of a subscription's messages: messages of a topic, requests to a service, or
/// responses to a client. `services.hpp` has the topic names of requests and responses.
enum class Role { kTopic, kService, kClient };

/// The name that app.yaml uses for the default callback group of a node. rclcpp puts entities that
/// state no group into it.
inline constexpr std::string_view kDefaultGroup = "default";

/// The SCHED_FIFO priority of an executor's scheduler thread if the file states no `top_priority`;
/// the executor's other threads run below it. Higher priorities are left to the middleware, the
/// kernel's own threads and probes.
inline constexpr int kTopPriority = 95;

/// An executor, the CPUs of its threads, and its process.
struct Executor {
  std::string name;
  std::vector<int> cpus{};  ///< distinct CPU numbers; empty: all CPUs
  /// The CPUs of the scheduler thread, for kinds of executors that have one; empty: as `cpus`.
  std::vector<int> scheduler_cpus{};
  /// Executors of one host with the same process name share a process; so do those of one host
  /// with an empty name.
  std::string process{};
  /// The SCHED_FIFO priority of the executor's scheduler thread; its worker threads have lower
  /// ones. nullopt: not stated, see top_priorities().
  std::optional<int> top_priority{};
  /// Index into Application::hosts; nullopt for an application without hosts.
  std::optional<std::size_t> host{};
  bool operator==(const Executor&) const = default;
};

/// A node, and the executor of those of its callbacks that do not name another one.
struct Node {
  std::string name;        ///< unique in the application
  std::string name_space;  ///< absolute, "/" by default
  std::size_t executor{};  ///< index into Application::executors
  bool operator==(const Node&) const = default;
};

/// Releases at the times offset + n x period.
struct Timer {
  Nanoseconds period{};
  Nanoseconds offset{};
  OverrunPolicy overrun{OverrunPolicy::kCatchUp};
  bool offset_stated{};  ///< the file gives the offset: the analysis may count on it
  bool operator==(const Timer&) const = default;
};

/// The callback runs once for each message of each of these topics. Each topic is a ROS
/// subscription; the subscriptions share the callback and exclude each other. A service has one
/// topic per client for the requests, but a single queue, and answers on the response topic of that
/// client. A client takes the messages of its response topic.
struct Subscription {
  std::vector<std::string> topics;  ///< different ones; a single one for most callbacks
  std::size_t depth{};              ///< of each topic
  Reliability reliability{Reliability::kReliable};
  bool intra_process{};  ///< messages from within the process come by reference
  Role role{Role::kTopic};
  std::string service{};  ///< its name, as the callback writes it; empty for Role::kTopic
  bool operator==(const Subscription&) const = default;
};

/// Runs once for each set of messages, one from each topic.
struct Sync {
  std::vector<std::string> topics;  ///< 2 to 9 different ones
  SyncPolicy policy{SyncPolicy::kApproximate};
  Nanoseconds window{};  ///< how far apart the stamps of a set may be; zero for SyncPolicy::kExact
  std::size_t depth{};
  bool operator==(const Sync&) const = default;
};

/// A trigger outside the executors: a driver's thread or an interrupt releases the callback. The
/// time between two releases is at least min_interval and at most max_interval.
///
/// With a period, release n is also at n periods after the first nominal release, or up to `jitter`
/// later: lateness does not accumulate. So ceil((t + jitter) / period) releases at most are within
/// a time t, and ceil(t / min_interval): "periodic with jitter and minimum distance" of Richter,
/// "Compositional scheduling analysis using standard event models", TU Braunschweig, 2005.
struct Event {
  Nanoseconds min_interval{};  ///< with a period: at most the period, at least period - jitter
  Nanoseconds max_interval{};  ///< with a period: period + jitter
  /// Of the first release, with a period of the first nominal one; nullopt: drawn (see EventTimes).
  std::optional<Nanoseconds> offset{};
  std::size_t depth{};   ///< how many releases may wait
  std::uint64_t seed{};  ///< of the draws; kDensest: no draws
  Nanoseconds period{};  ///< zero: the intervals are all that is known
  Nanoseconds jitter{};  ///< zero without a period
  bool operator==(const Event&) const = default;

  /// A seed that no file states, for an event with a period: its releases come in bunches that are
  /// as dense as the event allows (see EventTimes).
  static constexpr std::uint64_t kDensest = UINT64_MAX;
};

/// The work of a callback in a run: a workload of the package rclrt_workloads.
struct Workload {
  std::string name;
  std::uint64_t iterations{};
  bool operator==(const Workload&) const = default;
};

/// Statistics of the execution times that were observed in `n` runs of a callback. `max` is no
/// upper bound, because a later run may take longer.
struct ObservedTimes {
  std::uint64_t n{};
  Nanoseconds p50{};
  Nanoseconds p99{};
  Nanoseconds max{};
  bool operator==(const ObservedTimes&) const = default;
};

/// User code with its trigger, execution time and published topics.
struct Callback {
  std::string id;      ///< unique in the application
  std::size_t node{};  ///< index into Application::nodes
  std::variant<Timer, Subscription, Sync, Event> trigger;
  Nanoseconds wcet{};                   ///< worst-case execution time
  std::vector<std::string> publishes;   ///< each topic once
  std::optional<std::string> group;     ///< callbacks of one group of one node exclude each other
  std::optional<int> priority;          ///< only when the file gives one: see effective_priority()
  Overload overload{Overload::kQueue};  ///< other than kQueue not for syncs
  std::optional<Nanoseconds> deadline{};  ///< of each instance, from its release
  /// For each input of the callback (see inputs()): the topics by which chains that enter by this
  /// input continue, as ascending indices into `publishes`. Empty: every input leads to every
  /// topic. A subscription publishes on a topic only when it runs for an input that leads to this
  /// topic. A sync publishes on all topics in each run; its routes only state how chains continue.
  std::vector<std::vector<std::size_t>> routes{};
  std::optional<Workload> workload{};  ///< none: when it runs, it uses CPU time as long as the WCET
  /// The runs in which `wcet` was measured: bounds then hold only if no execution takes longer.
  /// nullopt: the author of app.yaml states `wcet`.
  std::optional<ObservedTimes> observed{};
  /// The callback's own executor, an index into Application::executors. nullopt: the executor of
  /// its node (see executor_of()). It is in the process of the node's executor, and all callbacks
  /// of a group have the same executor.
  std::optional<std::size_t> executor{};
  /// The variables that each run writes at its end. A variable keeps the latest value only, and
  /// triggers nothing. One callback stores it, and the callbacks that read it are in its process.
  std::vector<std::string> stores{};
  /// The variables of which each run takes the latest value at its start.
  std::vector<std::string> reads{};
  /// The topics of which each run takes the newest message at its start. Each is a subscription of
  /// depth 1 that triggers nothing: without a newer message, the last one counts again. One
  /// callback publishes the topic, possibly in another process.
  std::vector<std::string> samples{};
  /// The longest time for which each run waits without using the CPU: for a driver, a file, a GPU
  /// or another machine. It waits once, at any point of its execution time, and keeps its thread
  /// and its group meanwhile. Zero: no run waits.
  Nanoseconds waits{};

  CallbackKind kind() const { return static_cast<CallbackKind>(trigger.index()); }

  /// Returns whether messages trigger it: neither time nor an event.
  bool takes_messages() const {
    return kind() == CallbackKind::kSubscription || kind() == CallbackKind::kSync;
  }

  /// Returns whether chains that enter by inputs()[input] continue by publishes[output].
  RCLRT_MODEL_EXPORT bool leads(std::size_t input, std::size_t output) const;

  /// Returns whether a run for a message of inputs()[input] publishes on publishes[output].
  bool sends(std::size_t input, std::size_t output) const {
    return kind() != CallbackKind::kSubscription || leads(input, output);
  }

  bool operator==(const Callback&) const = default;
};

/// A path through the graph that starts at a timer or an event.
struct Chain {
  std::string id;                      ///< unique in the application
  std::vector<std::size_t> callbacks;  ///< indices into Application::callbacks; each one once
  int priority{};                      ///< a higher number is more urgent
  Nanoseconds deadline{};              ///< from the nominal release
  /// Logical execution time: as a segment of a cause-effect chain, it reads variables at its
  /// nominal release, and what it stores or puts out counts from its deadline (Henzinger, Horowitz
  /// and Kirsch, "Giotto: a time-triggered language for embedded programming", Proceedings of the
  /// IEEE 91(1), 2003).
  bool logical_execution{};
  bool operator==(const Chain&) const = default;
};

/// A part of a cause-effect chain: a chain from one of its callbacks to its end.
struct Segment {
  std::size_t chain{};  ///< index into Application::chains
  /// The place in the chain of the callback that reads the variable: the data enter there. Not 0
  /// only if messages trigger this callback.
  std::size_t entry{};
  bool operator==(const Segment&) const = default;
};

/// A path over messages and variables: the last callback of a segment stores a variable, and the
/// entry of the next segment reads it, whenever it runs. So some values are read several times, and
/// others never. The term is from Davare et al., "Period optimization for hard real-time
/// distributed automotive systems", DAC 2007.
///
/// The reaction time begins when something happens outside: at the release of an event; for a
/// timer, right after a release, so that only the next release sees it. It ends with the first run
/// of the last callback that depends on it. The data age is the time from the release of the first
/// callback to the end of any run of the last callback that uses its data.
struct CauseEffectChain {
  std::string id;  ///< unique among these; that of the chain if there is one segment
  std::vector<std::size_t> callbacks;  ///< indices into Application::callbacks; each one once
  std::vector<Segment> segments;       ///< at least one; the first one's entry is 0
  std::optional<Nanoseconds> max_reaction{};
  std::optional<Nanoseconds> max_age{};
  bool operator==(const CauseEffectChain&) const = default;
};

/// A topic with stated properties besides its name.
struct Topic {
  std::string name;  ///< as the callbacks write it
  std::size_t size_bytes{};
  /// On links with LinkOrder::kPriority, messages with a higher one go first.
  int network_priority{};
  bool operator==(const Topic&) const = default;
};

/// The whole application, as in an app.yaml. An application that parse_application() returns is
/// consistent: every index is valid, the graph has no cycle, every topic that is read is published,
/// and every chain is a path that starts at a timer or an event. The functions below also accept an
/// inconsistent application that was made by hand; they throw std::out_of_range for an index of a
/// callback that does not exist.
struct RCLRT_MODEL_EXPORT Application {
  std::string name;
  std::string description;
  std::vector<Executor> executors;
  std::vector<Node> nodes;
  std::vector<Callback> callbacks;
  std::vector<Chain> chains;
  /// The chains of the file that state a largest reaction time or data age, or read variables.
  std::vector<CauseEffectChain> cause_effect_chains{};
  std::vector<Topic> topics;  ///< every topic of the graph, in order of first appearance
  /// The scheduling of threads that do not belong to rclrt. A rule with the name "middleware" is
  /// for all threads that the ROS middleware created.
  std::vector<ThreadRule> threads;
  std::vector<NetworkHost> hosts{};  ///< empty: a single one without a name
  std::vector<NetworkLink> links{};  ///< at most one between two hosts

  /// Returns the callback's own priority, or the highest of its chains, or 0 without either.
  int effective_priority(std::size_t callback) const;

  /// Returns effective_priority() of each callback, in one pass over the chains.
  std::vector<int> effective_priorities() const;

  /// Returns the index of the executor that runs the callback: Callback::executor if it is stated,
  /// otherwise the executor of the callback's node.
  std::size_t executor_of(std::size_t callback) const;

  /// Returns the host (index) that runs the callback; nullopt for an application without hosts.
  std::optional<std::size_t> host_of(std::size_t callback) const;

  /// Returns the period of the chain's timer or event; for an event without a period, its shortest
  /// interval. Zero if the chain starts with neither.
  Nanoseconds period(const Chain& chain) const;

  /// Returns the callbacks that take a message of this one: ascending, each once.
  std::vector<std::size_t> successors(std::size_t callback) const;

  /// Returns, for each callback of the chain, the inputs by which the chain enters that callback,
  /// as ascending indices into inputs() of it. The first callback has none, a subscription has one,
  /// and a sync has all topics that the previous callback publishes. If several topics lead on, the
  /// chain takes the first. If the chain cannot reach a callback, the lists of it and of all later
  /// callbacks are empty.
  std::vector<std::vector<std::size_t>> entries(const Chain& chain) const;

  /// Returns the executors (indices) of each process, both in the order of the executors.
  std::vector<std::vector<std::size_t>> processes() const;

  /// Returns the releases per second of each callback. A timer or event has its own rate, and an
  /// event without a period its highest rate. A subscription has the sum over the publishers of its
  /// topics, and a sync the rate of its slowest input. Zero for callbacks in a cycle or behind a
  /// cycle.
  std::vector<double> rates() const;

  /// Returns the share of one CPU that the callbacks need together: the sum of WCET times rate.
  double utilisation() const;

  /// Returns the least common multiple of the periods of timers and events (see period()).
  /// Zero if there are no timers and no events; Nanoseconds::max() if the value does not fit.
  Nanoseconds hyperperiod() const;

  bool operator==(const Application&) const = default;
};

/// Returns the topics that trigger the callback: none for timers and events, one or several for
/// subscriptions, at least two for a sync.
RCLRT_MODEL_EXPORT std::vector<std::string> inputs(const Callback& callback);

/// Returns the topic of which `to` reads the newest message, published by `from`: the first such
/// topic, nullopt if there is none. A variable that `from` stores and `to` reads leads from the one
/// to the other instead: then the result is nullopt, too.
RCLRT_MODEL_EXPORT std::optional<std::string> sampled_topic(const Callback& from,
                                                            const Callback& to);

/// Returns the period of a timer or an event; for an event without a period, its shortest interval.
/// Zero for other callbacks. In the long run, no release comes more often.
RCLRT_MODEL_EXPORT Nanoseconds period(const Callback& callback);

/// Returns the shortest time between two releases of a timer or an event; zero for other callbacks.
RCLRT_MODEL_EXPORT Nanoseconds min_interval(const Callback& callback);

/// Returns the longest time between two releases of a timer or an event; zero for other callbacks.
RCLRT_MODEL_EXPORT Nanoseconds max_interval(const Callback& callback);

}  // namespace rclrt::model
