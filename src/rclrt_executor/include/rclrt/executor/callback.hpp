// SPDX-License-Identifier: Apache-2.0
// User code bound to an entity, as the engine sees it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "rclrt/executor/credits.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/executor/group.hpp"
#include "rclrt/executor/instance.hpp"

namespace rclrt::executor {

/// What releases a callback. The order is the one in which rclcpp's executors look at a ready set.
enum class EntityType { kTimer, kSubscription, kService, kClient, kWaitable };

/// What happens to a release while earlier ones have not run.
enum class Overload {
  kQueue,          ///< it waits, as far as the credits reach; beyond them it is a drop
  kKeepLast,       ///< one instance waits at most and stands for the newest release; the others
                   ///< are drops
  kSkipIfRunning,  ///< while an instance waits or runs, a release is a drop
};

inline constexpr std::uint32_t kNoNumber = UINT32_MAX;

/// What a callback is.
struct CallbackOptions {
  std::string name;
  EntityType type = EntityType::kSubscription;
  int level = 0;                         ///< priority; higher is more urgent, any int
  std::size_t credits = 10;              ///< how many instances may wait: the QoS depth
  Overload overload = Overload::kQueue;  ///< other than kQueue: one instance waits at most
  std::shared_ptr<Group> group;          ///< nullptr: a group of its own, it excludes only itself
  std::int64_t deadline_ns = 0;          ///< counted from the release of each instance; 0: none
  std::uint32_t number = kNoNumber;      ///< for who receives its instances; nobody else looks
};

/// How many instances there were. `released == completed + dropped + pending` at any quiet moment.
struct Counters {
  std::uint64_t released = 0;
  std::uint64_t completed = 0;
  std::uint64_t dropped = 0;
  /// Of a callback with a deadline: ended after it, or dropped by overload. Of the others 0.
  std::uint64_t missed = 0;
  std::uint64_t pending() const noexcept RCLRT_NONBLOCKING {
    return released - completed - dropped;
  }
};

/// Takes instances that became ready: a lane or a scheduler's inbox.
class RCLRT_EXECUTOR_EXPORT ReadySink {
 public:
  virtual ~ReadySink() = default;
  /// Takes over an instance that is ready. Thread-safe.
  virtual void submit(Instance* instance) noexcept RCLRT_NONBLOCKING = 0;
  /// Takes back an instance that it gave out and that had to wait for its group: to its old place.
  virtual void resume(Instance* instance) noexcept RCLRT_WAITS = 0;
};

class Executor;

/// Base of everything an executor runs; the binding (rcl, rclcpp, a test) derives from it. What a
/// dispatch touches is on its first two cache lines.
class alignas(64) RCLRT_EXECUTOR_EXPORT Callback {
 public:
  /// Throws std::invalid_argument when there are no credits, or for a negative deadline.
  RCLRT_SETUP explicit Callback(CallbackOptions options);
  virtual ~Callback() = default;
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;

  const std::string& name() const noexcept RCLRT_NONBLOCKING { return options_.name; }
  EntityType type() const noexcept RCLRT_NONBLOCKING { return options_.type; }
  /// Higher is more urgent. Constant unless an executor's `set_level` changes it.
  int level() const noexcept RCLRT_NONBLOCKING { return level_.load(std::memory_order_relaxed); }
  Overload overload() const noexcept RCLRT_NONBLOCKING { return overload_; }
  /// Counted from the release of each instance; 0: none.
  std::int64_t deadline_ns() const noexcept RCLRT_NONBLOCKING { return deadline_ns_; }
  std::uint32_t number() const noexcept RCLRT_NONBLOCKING { return options_.number; }
  Group& group() noexcept RCLRT_NONBLOCKING { return group_; }
  const std::shared_ptr<Group>& shared_group() const noexcept RCLRT_NONBLOCKING {
    return options_.group;
  }

  /// A snapshot; thread-safe.
  Counters counters() const noexcept RCLRT_NONBLOCKING;

  /// Says that there is one more instance to run. Thread-safe; callable from a middleware's
  /// listener. Counts a drop when the callback has no credit left.
  void release(std::int64_t release_ns, std::int64_t ready_ns) noexcept RCLRT_NONBLOCKING {
    if (Instance* instance = make_instance(release_ns, ready_ns)) {
      submit(instance);
    }
  }

  /// The two halves of `release`, for callers that must hold the instance back for a moment.
  Instance* make_instance(std::int64_t release_ns,
                          std::int64_t ready_ns) noexcept RCLRT_NONBLOCKING;
  /// Hands an instance from `make_instance` to the executor.
  void submit(Instance* instance) noexcept RCLRT_NONBLOCKING { sink_.load()->submit(instance); }
  /// For an instance that a scheduler thread took: on to the lane of its level.
  void pass_on(Instance* instance) noexcept RCLRT_NONBLOCKING { lane_.load()->submit(instance); }
  /// For an instance that left its group's parking place.
  void resume(Instance* instance) noexcept RCLRT_WAITS { lane_.load()->resume(instance); }
  /// Gives an instance back that nobody will run: a counted drop. Its message is announced again
  /// to the next executor.
  void discard(Instance* instance) noexcept RCLRT_NONBLOCKING;
  /// How many were discarded since the last call, or since it was in an executor: for a binding
  /// that makes another callback for the same entity.
  std::uint64_t take_undelivered() noexcept RCLRT_NONBLOCKING { return undelivered_.exchange(0); }

 protected:
  /// Runs one instance: take what is to take, set `info.start_ns`, call the user's code. Called by
  /// one worker at a time unless the group is reentrant. May throw what the user's code throws.
  virtual Outcome run(InstanceInfo& info) = 0;

  /// From `attach` on the entity announces its work by `release`; after `detach` returned it does
  /// so no more. Called in the prepare phase and on destruction of the executor. An entity that
  /// already has work when it is attached must announce it.
  virtual void attach() {}
  virtual void detach() noexcept {}

 private:
  friend class EdfQueue;
  friend class Executor;
  friend class Lane;
  friend class TimerCallback;
  friend class WaitSetExecutor;

  /// Counts releases that will never be instances, or found nothing.
  void drop(std::uint64_t count) noexcept RCLRT_NONBLOCKING;
  /// Counts a release that finds no credit.
  void refuse(std::int64_t release_ns) noexcept RCLRT_NONBLOCKING;
  void keep_newest(std::int64_t release_ns) noexcept RCLRT_NONBLOCKING;
  /// Gives the instance's credit back when `overload` says it is time, and returns what it stands
  /// for. The first is called before the message is taken, the second after user code has ended.
  InstanceInfo begin(Instance* instance) noexcept RCLRT_NONBLOCKING;
  void end(Instance* instance) noexcept RCLRT_NONBLOCKING;

  /// Between these two a worker or a scheduler has an instance in its hands: the callback is not
  /// let go of. `unpin` is that thread's last access.
  void pin() noexcept RCLRT_NONBLOCKING { pins_.fetch_add(1); }
  void unpin() noexcept RCLRT_NONBLOCKING { pins_.fetch_sub(1); }

  // The first cache line, with the virtual table.
  Credits credits_;
  Group& group_;                           // own_group_, or one that options_ keeps
  std::atomic<ReadySink*> sink_{nullptr};  // a scheduler's inbox, or the lane
  // Settled by an executor's configuration, as sink_, lane_ and os_priority_ are; the order between
  // them is unimportant: an instance on its way runs at the old level.
  std::atomic<int> level_;
  std::atomic<int> pins_{0};  // seq_cst: see Executor::remove

  // The second one, as far as own_group_'s state.
  // Statistics only: no data is published by them. The release increments and acquire loads of the
  // last two keep `counters` from showing a completion without its release.
  std::atomic<std::uint64_t> released_{0};
  std::atomic<std::uint64_t> completed_{0};
  const std::int64_t deadline_ns_;  // of options_, as the next
  const Overload overload_;
  std::atomic<bool> removed_{false};  // seq_cst, as pins_; looked at by executors that poll
  Group own_group_;

  // Whose it is. Who sets it from nullptr (Executor::claim) has it until setting it back, which is
  // the last thing done to a callback that is let go.
  std::atomic<const Executor*> owner_{nullptr};
  std::atomic<ReadySink*> lane_{nullptr};
  std::atomic<int> os_priority_{0};
  std::atomic<std::uint64_t> dropped_{0};  // as completed_
  std::atomic<std::uint64_t> missed_{0};
  std::atomic<std::uint64_t> dropped_untold_{0};  // misses that no report has told of
  const std::string* kept_name_ = nullptr;        // set by the executor that claims it
  // kKeepLast: the newest release that found no credit. Released and acquired, so that who takes it
  // sees whether the credit it did not find is out again: then it is left to the next instance.
  std::atomic<std::int64_t> newest_ns_{INT64_MIN};
  // Instances discarded with their executor: their messages still wait in the middleware.
  std::atomic<std::uint64_t> undelivered_{0};
  const CallbackOptions options_;
};

}  // namespace rclrt::executor
