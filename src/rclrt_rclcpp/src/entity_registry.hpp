// SPDX-License-Identifier: Apache-2.0
// The entities that an executor runs.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "entity_entry.hpp"
#include "entity_names.hpp"
#include "maintenance_thread.hpp"
#include "rclrt/executor/group.hpp"
#include "rclrt/realtime/quiescence_guard.hpp"
#include "rclrt_rclcpp/observer.hpp"
#include "rclrt_rclcpp/origins.hpp"
#include "removal_queue.hpp"
#include "spin_failure.hpp"
#include "timers.hpp"
#include "timing_table.hpp"

namespace rclrt_rclcpp {

/// Adds and removes the engine's callbacks as the nodes' entities appear and disappear. Each spin
/// begins with a scan of the entities. During a spin, the maintenance thread scans again whenever a
/// node or a group reports a change.
///
/// Locks: `mutex_` guards all members except `engine_`, `changes_`, `gate_`, `clocks_`, `origins_`
/// and `failure_`, which have their own locks. The locks of the collector, the entities and the
/// engine are taken while `mutex_` is held; never the other way round, because no listener, no
/// on-ready callback and no callback of a clock takes `mutex_`. No thread waits for a callback to
/// end while it holds `mutex_`. The maintenance thread never waits for a callback, because all
/// entities need this thread.
class Executor::EntityRegistry {
 public:
  /// Returns the executor's current groups, those of its nodes included; called with `mutex_` held.
  using Groups = std::function<std::vector<rclcpp::CallbackGroup::WeakPtr>()>;

  /// Makes the registry. `observer` observes this executor, and is a sink of the engine; nullptr:
  /// there is no observer.
  EntityRegistry(const Options& options, std::unique_ptr<engine::Executor> engine, Groups groups,
                 rclcpp::Context::SharedPtr context, std::unique_ptr<ExecutorObserver> observer);
  ~EntityRegistry();
  EntityRegistry(const EntityRegistry&) = delete;
  EntityRegistry& operator=(const EntityRegistry&) = delete;

  engine::Executor& engine() noexcept { return *engine_; }
  const rclcpp::Context::SharedPtr& context() const noexcept { return context_; }
  Changes& changes() noexcept { return changes_; }

  /// A change of the set of entities that run, or of their timing. Both functions are called with
  /// `mutex_` held.
  struct Change {
    std::function<void()> make;       // makes all of it, or throws
    std::function<void()> take_back;  // none: the change stays even if the engine cannot follow
  };
  /// Makes `change` if it is not nullptr, and then updates the engine. If the engine refuses the
  /// update, takes the change back and throws the error. If there is no change, or it cannot be
  /// taken back, ends the spin instead; the spin throws the error (`rethrow`).
  void refresh(Wait wait = Wait::kNo, const Change* change = nullptr);
  void refresh_if_noted();
  /// Releases the timers that other clocks have made due, for spins that run what is ready now.
  void release_due_timers() noexcept { clocks_.release_due(); }
  /// Begins a spin: from here on the executor's threads scan. Not called while a spin is under way.
  void begin_spin();
  /// Ends the spin. On return the executor's threads hold no entity: see `gate_`.
  void end_spin();
  /// Returns whether the engine could not follow a change since the spin began.
  bool failed() const noexcept { return failure_.failed(); }
  /// Throws the error of that change.
  void rethrow() { failure_.rethrow(); }

  void know_node(const rclcpp::node_interfaces::NodeBaseInterface::SharedPtr& node);
  void set_timing(const std::shared_ptr<void>& part, const Timing& timing);
  std::vector<CallbackInfo> callbacks();
  std::vector<std::string> unmatched(bool with_guess);

 private:
  struct Group {
    std::shared_ptr<engine::Group> group;
    /// true: a removed callback of the group is still running. Until it has ended, no executor
    /// takes callbacks from this group, neither another one of ours nor one of rclcpp
    /// (`can_be_taken_from` is false).
    bool closed = false;
    std::size_t timers = 0;     // ever added to it: the number of the next
    std::size_t waitables = 0;  // ditto
  };
  struct Seen {
    Key entity;
    int level = 0;
    std::function<void()> add;  // none: not added yet
  };
  /// The result of one scan of all groups.
  struct Found {
    Kept kept;
    std::vector<Seen> entities;
    bool again = false;        // a scan must follow when removals have finished
    bool elsewhere = false;    // a group has callbacks that run in another executor
    std::exception_ptr error;  // the first
  };
  /// Data that all entities of one group share, during one scan.
  struct GroupContext {
    rclcpp::CallbackGroup::SharedPtr group;
    Group* entry = nullptr;
    EntityNames::Owner owner;
    FileEntries file_entries;  // those for this whole group
    bool elsewhere = false;    // one of its callbacks still runs in its previous executor
  };
  /// The entities of one group. They are collected into this struct first, because the group's own
  /// lock is held while its entities are visited.
  struct Members {
    std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions;
    std::vector<rclcpp::ServiceBase::SharedPtr> services;
    std::vector<rclcpp::ClientBase::SharedPtr> clients;
    std::vector<rclcpp::TimerBase::SharedPtr> timers;
    std::vector<rclcpp::Waitable::SharedPtr> waitables;
  };

  void keep_levels(const std::vector<int>& levels);
  void fail(const std::exception_ptr& error);
  void scan_publishers();
  void note_publications();
  void read_stamps_where_asked(Kept& kept);
  void scan(Found& found, bool& taken_back, std::exception_ptr& refused, const Change* change);
  void collect(Found& found);
  void add_found(Found& found);
  GroupContext context_of(const rclcpp::CallbackGroup::SharedPtr& group);
  static Members members_of(const rclcpp::CallbackGroup& group, Kept& kept);
  std::vector<Described> described(const Members& members, const GroupContext& context);
  void see_group(const rclcpp::CallbackGroup::SharedPtr& group, Found& found);
  void see_waitables(const Members& members, const GroupContext& context, Found& found);
  template <typename Entity>
  void see(const std::shared_ptr<Entity>& entity, const GroupContext& context, Found& found,
           const char* kind, const std::string& name, const Key& owner = {});
  template <typename Entity>
  static CallbackFacts facts_of(const std::shared_ptr<Entity>& entity, const Place& place,
                                const Timing& timing, const GroupContext& context,
                                const Key& owner);
  template <typename Entity>
  bool add_entity(const std::shared_ptr<Entity>& entity, Place place, const Timing& timing,
                  const GroupContext& context, const Key& owner);
  bool update_entry(Entries::iterator known, Place place, const Timing& timing);
  template <typename Entity>
  void set_age(const std::shared_ptr<Entity>& entity, Entry& entry, const GroupContext& context,
               const Key& owner);
  template <typename Entity>
  Bound bind_entity(const std::shared_ptr<Entity>& entity, engine::CallbackOptions options);
  void drop(const Key& key, Entry& entry);
  bool finish_leaving(Wait wait);
  std::vector<rclcpp::CallbackGroup::SharedPtr> close_groups();

  const std::unique_ptr<ExecutorObserver> observer_;  // may be none
  const std::unique_ptr<engine::Executor> engine_;    // its sink is observer_
  const bool measures_;                               // responses of callbacks with deadlines
  Changes changes_;                                   // before origins_, which refers to it
  const std::unique_ptr<OriginSharing> origins_;  // nullptr: origins are neither shared nor read
  const Groups groups_of_executor_;
  const rclcpp::Context::SharedPtr context_;
  // The gate is open during a spin. A thread of the executor that scans entities keeps them alive
  // for a moment, and does so only inside the gate. When the gate is closed, these threads hold no
  // entity. So an entity that the user then releases is destroyed at once, on the user's thread, as
  // with rclcpp's executors. (rcl requires it: two entities of one node must not be destroyed at
  // the same time.)
  rclrt::realtime::QuiescenceGuard gate_;
  ClockTimers clocks_;
  SpinFailure failure_;

  std::mutex mutex_;
  Entries entries_;
  WeakMap<Group> groups_;
  WeakMap<bool> refused_;  // entities that cannot be listened to
  RemovalQueue leaving_;
  TimingTable timings_;
  EntityNames names_;

  std::unique_ptr<MaintenanceThread> maintenance_;  // from the constructor to the destructor
};

}  // namespace rclrt_rclcpp
