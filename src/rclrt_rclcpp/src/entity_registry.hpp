// SPDX-License-Identifier: Apache-2.0
// What an executor knows of the entities it runs.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "entity_callback.hpp"
#include "gate.hpp"
#include "rclrt/executor/group.hpp"
#include "rclrt/model/node_timing.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt_rclcpp/executors.hpp"
#include "recording_impl.hpp"
#include "timers.hpp"

namespace rclrt_rclcpp {

using Place = rclrt::model::CallbackPlace;

inline constexpr std::int64_t kSecond_ns = 1'000'000'000;

/// "/lidar timer 0"
std::string to_string(const Place& place);

/// Keeps the engine's callbacks what the nodes' entities are. While somebody spins, a thread of its
/// own, at normal priority, looks whenever a node or a group says that it has changed; each spin
/// looks first.
///
/// Locks: `mutex_` guards all but `engine_`, `changes_`, `gate_`, `clocks_` and the error, which
/// have their own. With it are taken, inside: the collector's, the entities' and the engine's;
/// never the other way round, for no listener, no on-ready callback and no callback of a clock
/// takes it. Nobody waits for a callback to end while holding it; and the thread, which all
/// entities wait for, waits for none at all.
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

  /// What of a removal whoever refreshes waits for.
  enum class Wait {
    kNo,
    kUntilNothingRuns,  ///< of what has left; but a callback of this executor waits for none
  };
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
  /// For spins that run what is ready now: what other clocks made due is, too.
  void release_due_timers() noexcept { clocks_.release_due(); }
  /// A spin begins: from here on the executor's threads look. Not called while one is under way.
  void begin_spin();
  /// The spin ends. On return the executor's threads hold no entity: see Gate.
  void end_spin();
  /// Whether it was found since the spin began that the engine could not follow.
  bool failed() const noexcept { return failed_.load(); }
  /// Throws why.
  void rethrow();

  void know_node(const rclcpp::node_interfaces::NodeBaseInterface::SharedPtr& node);
  void set_timing(const std::shared_ptr<void>& part, const Timing& timing);
  std::vector<CallbackInfo> callbacks();
  std::vector<std::string> unmatched();

 private:
  using Node = rclcpp::node_interfaces::NodeBaseInterface;
  using Key = std::weak_ptr<void>;
  template <typename Value>
  using WeakMap = std::map<Key, Value, std::owner_less<Key>>;

  struct Group {
    std::shared_ptr<engine::Group> group;
    /// One of its callbacks runs on though it has left: until it has ended, nobody takes from this
    /// group, neither another executor nor one of rclcpp's (`can_be_taken_from` is false).
    bool closed = false;
    std::size_t timers = 0;     // that were ever in it: the index of the next
    std::size_t waitables = 0;  // ditto
  };
  struct Entry {
    Bound bound;
    Place place;
    Timing timing;
    rclcpp::CallbackGroup::WeakPtr group;
    bool seen = true;  // in the refresh under way
  };
  struct Leaving {
    Key entity;
    rclcpp::CallbackGroup::WeakPtr group;
    Bound bound;
  };
  /// What was counted, stays counted, so that the index of a group never changes.
  struct GroupOfNode {
    rclcpp::CallbackGroup::WeakPtr group;
    bool is_of_clock = false;
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
    bool again = false;        // something is to be taken in when what leaves has left
    bool elsewhere = false;    // a group has callbacks that run in another executor
    std::exception_ptr error;  // the first
  };
  /// What all entities of one group share, in one look.
  struct GroupContext {
    rclcpp::CallbackGroup::SharedPtr group;
    Group* entry = nullptr;
    std::shared_ptr<Node> node;
    std::string node_name;
    std::size_t index = 0;
    bool elsewhere = false;  // a callback of it runs in the executor that it comes from
  };
  void maintenance_loop();
  void fail(const std::exception_ptr& error);
  void collect(Found& found);
  GroupContext context_of(const rclcpp::CallbackGroup::SharedPtr& group);
  std::optional<std::size_t> index_in(const std::shared_ptr<Node>& node,
                                      const rclcpp::CallbackGroup::SharedPtr& group);
  template <typename Entity>
  void see(const std::shared_ptr<Entity>& entity, const GroupContext& context, Found& found,
           const char* kind, const std::string& name, const Key& owner = {});
  void add_found(Found& found);
  template <typename Entity>
  bool add_entity(const std::shared_ptr<Entity>& entity, Place place, const Timing& timing,
                  const GroupContext& context);
  void see_group(const rclcpp::CallbackGroup::SharedPtr& group, Found& found);
  const std::string& index_of(const Key& entity, std::size_t& next);
  bool is_leaving(const Key& entity) const;
  Timing timing_of(const Key& entity, const Place& place,
                   const rclcpp::CallbackGroup::WeakPtr& group, const Key& node) const;
  void drop(const Key& key, Entry& entry);
  bool finish_leaving(Wait wait);
  std::vector<rclcpp::CallbackGroup::SharedPtr> close_groups();
  void warn_of_deadlocks();

  const std::unique_ptr<Recording::Impl::Part> part_;
  const std::unique_ptr<engine::Executor> engine_;  // its sink is part_
  const Groups groups_of_executor_;
  const rclcpp::Context::SharedPtr context_;
  const std::filesystem::path file_;
  const std::vector<rclrt::model::NodeTiming> stated_;  // in the file
  Changes changes_;
  Gate gate_;
  ClockTimers clocks_;

  std::mutex mutex_;
  WeakMap<Entry> entries_;
  // No more in entries_, and told to listen no more; here until the engine has let go of it, so
  // that whoever removes waits for what another one took out. An entity has no new entry before: it
  // would not be told of what the old one leaves behind.
  std::vector<Leaving> leaving_;
  WeakMap<Group> groups_;
  WeakMap<std::string> indices_;
  WeakMap<std::vector<GroupOfNode>> groups_of_nodes_;  // in the order of their creation
  WeakMap<bool> refused_;                              // entities that could not be listened to
  WeakMap<Timing> timings_;                            // set in code: of entities, groups and nodes
  std::vector<std::weak_ptr<Node>> nodes_;
  std::map<const Listener*, std::int64_t> suspects_;  // who runs, since when; see warn_of_deadlocks

  std::mutex error_mutex_;  // guards error_; nothing else is taken inside it
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};  // there is one: for who looks without the lock

  /// A refresh has left something undone that nobody will note: the thread looks again soon.
  std::atomic<bool> unfinished_{false};
  std::atomic<bool> stop_{false};
  rclrt::realtime::Thread thread_;
};

}  // namespace rclrt_rclcpp
