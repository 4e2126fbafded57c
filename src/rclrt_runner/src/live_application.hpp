// SPDX-License-Identifier: Apache-2.0
// An application of the model as running ROS 2 nodes.
#pragma once

#include <cstdint>
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
#include "rclrt/recorder/callback_accounting.hpp"
#include "rclrt/recorder/instance_log.hpp"
#include "rclrt/recorder/results.hpp"
#include "rclrt/recorder/token_rules.hpp"

namespace rclrt::runner {

/// Nodes, publishers and callbacks. Each callback runs its workload, or burns its stated CPU time
/// without one. Then it publishes the tokens of the chain instances that it worked for.
class LiveApplication {
 public:
  /// Creates on the middleware all entities of the executors with these indices, which are of this
  /// kind. `application` and `log` must outlive it. Throws Error, and std::invalid_argument for an
  /// unknown workload.
  LiveApplication(const model::Application& application, std::span<const std::size_t> own,
                  const std::shared_ptr<Context>& context, recorder::InstanceLog& log,
                  model::ExecutorKind kind);
  ~LiveApplication();
  LiveApplication(const LiveApplication&) = delete;
  LiveApplication& operator=(const LiveApplication&) = delete;

  /// Waits until all are matched: publishers with their subscriptions and clients with their
  /// servers, in both directions and in other processes too. Throws std::runtime_error if that
  /// takes longer than `limit`.
  void wait_until_matched(std::chrono::seconds limit) const;

  /// Throws std::runtime_error if another program publishes on the topics, or has one of the
  /// services or a client of it: messages of another run would be taken for this one's.
  void require_alone() const;

  /// Adds the nodes of executor number `index` of the application.
  void add_nodes(std::size_t index, Executor& executor) const;

  /// Starts the threads that release events; they wait for the epoch. Returns why they have no
  /// real-time priority, if there are such threads and they have none.
  std::optional<std::string> start_events();

  /// Begins the run: timers count their instances from here, and events are released from here on.
  void begin(std::int64_t epoch_ns);

  /// Ends the events. Call it before the executors stop.
  void stop_events();

  /// Returns the counts after the run, one per callback of the application; zero for callbacks of
  /// another process. Throws std::runtime_error if a workload gave different results.
  std::vector<recorder::CallbackCounts> counts() const;

  /// Returns, after the run, how many messages callbacks of this process took that no callback of
  /// the application can have sent. They are ignored.
  std::uint64_t foreign_messages() const;

 private:
  struct LiveCallback;
  struct SyncFunction;

  void create(std::size_t index, Node& node);
  void create_output(const std::string& topic, LiveCallback& live, Node& node);
  /// Connects the outputs that are requests with their clients.
  void connect_calls();
  void create_entities(const model::Timer& timer, LiveCallback& live, Node& node);
  void create_entities(const model::Subscription& subscription, LiveCallback& live, Node& node);
  void create_entities(const model::Sync& sync, LiveCallback& live, Node& node);
  void create_entities(const model::Event& event, LiveCallback& live, Node& node);
  CallbackOptions options(const LiveCallback& live);
  /// Calls `use` with each subscription and the number of the application's publishers on its
  /// topic.
  template <typename Use>
  void for_each_subscription(const LiveCallback& live, const Use& use) const;

  const model::Application& application_;
  recorder::InstanceLog& log_;
  const model::ExecutorKind kind_;
  const BusyLoop busy_loop_;
  std::int64_t epoch_ns_ = 0;
  std::vector<std::unique_ptr<Node>> nodes_;  // as in the application; nullptr: in another process
  std::vector<std::unique_ptr<LiveCallback>> callbacks_;  // those of this process
  std::vector<std::unique_ptr<EventSource>> sources_;     // of their events
};

}  // namespace rclrt::runner
