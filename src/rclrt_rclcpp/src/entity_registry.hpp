// SPDX-License-Identifier: Apache-2.0
// What an executor knows of the entities it runs.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "entity_entry.hpp"
#include "entity_names.hpp"
#include "gate.hpp"
#include "maintenance_thread.hpp"
#include "origins.hpp"
#include "rclrt/executor/group.hpp"
#include "recording_impl.hpp"
#include "removal_queue.hpp"
#include "spin_failure.hpp"
#include "timers.hpp"
#include "timing_table.hpp"

namespace rclrt_rclcpp {

/// Keeps the engine's callbacks what the nodes' entities are. While somebody spins, the maintenance
/// thread looks whenever a node or a group says that it has changed; each spin looks first.
///
/// Locks: `mutex_` guards all but `engine_`, `changes_`, `gate_`, `clocks_`, `origins_` and
/// `failure_`, which have their own. With it are taken, inside: the collector's, the entities' and
/// the engine's; never the other way round, for no listener, no on-ready callback and no callback
/// of a clock takes it. No thread waits for a callback to end while holding it; and the maintenance
/// thread, which all entities wait for, waits for none at all.
class Executor::EntityRegistry {
 public:
  /// The groups that the executor has now, those of its nodes included; called with `mutex_` held.
  using Groups = std::function<std::vector<rclcpp::CallbackGroup::WeakPtr>()>;

  /// `part`: of a recording; nullptr: there is none.
  EntityRegistry(const Options& options, std::unique_ptr<engine::Executor> engine, Groups groups,
                 rclcpp::Context::SharedPtr context, std::unique_ptr<Recording::Impl::Part> part);
  ~EntityRegistry();
  EntityRegistry(const EntityRegistry&) = delete;
  EntityRegistry& operator=(const EntityRegistry&) = delete;

  engine::Executor& engine() noexcept { return *engine_; }
  const rclcpp::Context::SharedPtr& context() const noexcept { return context_; }
  Changes& changes() noexcept { return changes_; }

  /// Of what the executor is to run, or how. Both are called with `mutex_` held.
  struct Change {
    std::function<void()> make;       // all of it, or throws
    std::function<void()> take_back;  // none: it stays, whatever the engine makes of the rest
  };
  /// Makes the change, if there is one, and brings the engine up to date. If the engine cannot
  /// follow, takes the change back and throws why; if there is none to take back, ends the spin,
  /// which throws it (`rethrow`).
  void refresh(Wait wait = Wait::kNo, const Change* change = nullptr);
  void refresh_if_noted();
  /// Releases, for spins that run what is ready now, what other clocks made due.
  void release_due_timers() noexcept { clocks_.release_due(); }
  /// Begins a spin: from here on the executor's threads look. Not called while one is under way.
  void begin_spin();
  /// Ends it. On return the executor's threads hold no entity: see Gate.
  void end_spin();
  /// Returns whether it was found since the spin began that the engine could not follow.
  bool failed() const noexcept { return failure_.failed(); }
  /// Throws why.
  void rethrow() { failure_.rethrow(); }

  void know_node(const rclcpp::node_interfaces::NodeBaseInterface::SharedPtr& node);
  void set_timing(const std::shared_ptr<void>& part, const Timing& timing);
  std::vector<CallbackInfo> callbacks();
  std::vector<std::string> unmatched(bool with_guess);

 private:
  struct Group {
    std::shared_ptr<engine::Group> group;
    /// One of its callbacks runs on though it has left: until it has ended, no executor takes from
    /// this group, neither another one of ours nor one of rclcpp's (`can_be_taken_from` is false).
    bool closed = false;
    std::size_t timers = 0;     // that were ever in it: the number of the next
    std::size_t waitables = 0;  // ditto
  };
  struct Seen {
    Key entity;
    int level = 0;
    std::function<void()> add;  // none: not yet
  };
  /// What one look at all groups has found.
  struct Found {
    Kept kept;
    std::vector<Seen> entities;
    bool again = false;        // something is to be added when what leaves has left
    bool elsewhere = false;    // a group has callbacks that run in another executor
    std::exception_ptr error;  // the first
  };
  /// What all entities of one group share, in one look.
  struct GroupContext {
    rclcpp::CallbackGroup::SharedPtr group;
    Group* entry = nullptr;
    EntityNames::Owner owner;
    bool elsewhere = false;  // a callback of it runs in the executor that it comes from
  };
  /// What a group has. Collected first, for the group's own lock is held meanwhile.
  struct Members {
    std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions;
    std::vector<rclcpp::ServiceBase::SharedPtr> services;
    std::vector<rclcpp::ClientBase::SharedPtr> clients;
    std::vector<rclcpp::TimerBase::SharedPtr> timers;
    std::vector<rclcpp::Waitable::SharedPtr> waitables;
  };

  void keep_levels(const std::vector<int>& levels);
  void fail(const std::exception_ptr& error);
  void look_at_publishers();
  void note_publications();
  void read_stamps_where_asked(Kept& kept);
  void look(Found& found, bool& taken_back, std::exception_ptr& refused, const Change* change);
  void collect(Found& found);
  void add_found(Found& found);
  GroupContext context_of(const rclcpp::CallbackGroup::SharedPtr& group);
  static Members members_of(const rclcpp::CallbackGroup& group, Kept& kept);
  void see_group(const rclcpp::CallbackGroup::SharedPtr& group, Found& found);
  void see_waitables(const Members& members, const GroupContext& context, Found& found);
  template <typename Entity>
  void see(const std::shared_ptr<Entity>& entity, const GroupContext& context, Found& found,
           const char* kind, const std::string& name, const Key& owner = {});
  template <typename Entity>
  static Facts facts_of(const std::shared_ptr<Entity>& entity, const std::string& name,
                        const Timing& timing, const GroupContext& context, const Key& owner);
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

  const std::unique_ptr<Recording::Impl::Part> part_;
  const std::unique_ptr<engine::Executor> engine_;  // its sink is part_
  const bool measures_;                             // responses of callbacks with deadlines
  const std::unique_ptr<Origins> origins_;          // nullptr: not told, and not asked for
  const Groups groups_of_executor_;
  const rclcpp::Context::SharedPtr context_;
  Changes changes_;
  Gate gate_;
  ClockTimers clocks_;
  SpinFailure failure_;

  std::mutex mutex_;
  Entries entries_;
  WeakMap<Group> groups_;
  WeakMap<bool> refused_;  // entities that could not be listened to
  RemovalQueue leaving_;
  TimingTable timings_;
  EntityNames names_;

  std::unique_ptr<MaintenanceThread> maintenance_;  // from the constructor to the destructor
};

}  // namespace rclrt_rclcpp
