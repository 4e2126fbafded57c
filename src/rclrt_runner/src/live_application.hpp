// SPDX-License-Identifier: Apache-2.0
// An application of the model as running ROS 2 nodes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <rclrt/model/application.hpp>
#include <rclrt/model/executor_kind.hpp>
#include <span>
#include <string>
#include <vector>

#include "busy_loop.hpp"
#include "event_source.hpp"
#include "rclrt/rclrt.hpp"
#include "rclrt/realtime/stop_flag.hpp"
#include "rclrt/recorder/callback_accounting.hpp"
#include "rclrt/recorder/instance_log.hpp"
#include "rclrt/recorder/results.hpp"
#include "rclrt/recorder/token_rules.hpp"
#include "run_time.hpp"

namespace rclrt::runner {

/// The nodes, publishers and callbacks of an application, for a run. Each callback runs its
/// workload or, if it has none, uses its stated CPU time. Then it publishes a message with the
/// tokens of the chain instances for which it worked.
class LiveApplication {
 public:
  /// Creates the entities of the executors with the indices `own`, which are all of the kind
  /// `kind`, on the middleware. Their messages have times of the run, `time`. `application` and
  /// `log` must outlive this object. Throws Error, and std::invalid_argument for an unknown
  /// workload.
  LiveApplication(const model::Application& application, std::span<const std::size_t> own,
                  const std::shared_ptr<Context>& context, recorder::InstanceLog& log,
                  model::ExecutorKind kind, const RunTime& time);
  ~LiveApplication();
  LiveApplication(const LiveApplication&) = delete;
  LiveApplication& operator=(const LiveApplication&) = delete;

  /// Waits until all entities are matched: publishers with their subscriptions, and clients with
  /// their servers, also in other processes. Throws std::runtime_error if that takes longer than
  /// `limit`. Returns earlier if `goes_on` returns false.
  void wait_until_matched(std::chrono::seconds limit, const std::function<bool()>& goes_on) const;

  /// Throws std::runtime_error if another program publishes on the application's topics, or has one
  /// of its services or a client of them, because its messages would be taken for messages of this
  /// run.
  void require_alone() const;

  /// Adds the nodes of executor number `index` of the application.
  void add_nodes(std::size_t index, Executor& executor) const;

  /// Starts the threads that release events; they wait for the epoch. Returns the reason if they
  /// have no real-time priority; std::nullopt if they have one, or if there are no such threads.
  std::optional<std::string> start_events();

  /// Begins the run: timers count their instances from here, and events are released from here on.
  void begin(std::int64_t epoch_ns);

  /// Ends the events, and the time for which callbacks wait. Call it before the executors stop.
  void stop();

  /// Returns the counts after the run, one entry for each callback of the application; the entries
  /// of callbacks in another process are zero. Throws std::runtime_error if a workload gave
  /// different results.
  std::vector<recorder::CallbackCounts> counts() const;

  /// Returns, after the run, the number of messages that callbacks of this process have received
  /// and that no callback of the application can have sent. Such messages are ignored.
  std::uint64_t foreign_messages() const;

 private:
  struct LiveCallback;
  struct SyncFunction;

  void create(std::size_t index, Node& node);
  /// Gives the callbacks of this process the values that they store and read.
  void create_variables();
  void create_output(const std::string& topic, LiveCallback& live, Node& node);
  /// Gives each output that calls a service the ROS client that sends its requests.
  void connect_calls();
  void create_entities(const model::Timer& timer, LiveCallback& live, Node& node);
  void create_entities(const model::Subscription& subscription, LiveCallback& live, Node& node);
  void create_entities(const model::Sync& sync, LiveCallback& live, Node& node);
  void create_entities(const model::Event& event, LiveCallback& live, Node& node);
  CallbackOptions options(const LiveCallback& live);
  /// Calls `use` with each subscription of `live`, and with the number of publishers that the
  /// application has on the subscription's topic.
  template <typename Use>
  void for_each_subscription(const LiveCallback& live, const Use& use) const;

  const model::Application& application_;
  recorder::InstanceLog& log_;
  const model::ExecutorKind kind_;
  const RunTime time_;
  const BusyLoop busy_loop_;
  std::int64_t epoch_ns_ = 0;
  realtime::StopFlag ended_;                  // for callbacks that wait
  std::vector<std::unique_ptr<Node>> nodes_;  // as in the application; nullptr: in another process
  std::vector<std::unique_ptr<LiveCallback>> callbacks_;  // those of this process
  std::vector<std::unique_ptr<EventSource>> sources_;     // of their events
};

}  // namespace rclrt::runner
