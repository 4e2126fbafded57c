// SPDX-License-Identifier: Apache-2.0
// User code bound to an entity.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rclrt/executor/callback_options.hpp"
#include "rclrt/executor/detail/callback_state.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/executor/group.hpp"
#include "rclrt/executor/instance.hpp"

namespace rclrt::executor {

/// The base class of everything that an executor runs. A class for each kind of entity (an rcl
/// subscription, an rclcpp timer, a test's callback) derives from it.
class alignas(64) RCLRT_EXECUTOR_EXPORT Callback {
 public:
  /// Throws std::invalid_argument when there are no credits, or for a negative deadline.
  RCLRT_SETUP explicit Callback(CallbackOptions options);
  virtual ~Callback() = default;
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;

  const std::string& name() const noexcept RCLRT_NONBLOCKING { return state_.options.name; }
  EntityType type() const noexcept RCLRT_NONBLOCKING { return state_.options.type; }
  /// Returns the priority of the callback; a higher number is more urgent. The priority is constant
  /// unless Executor::set_level changes it.
  int level() const noexcept RCLRT_NONBLOCKING {
    return state_.level.load(std::memory_order_relaxed);
  }
  Overload overload() const noexcept RCLRT_NONBLOCKING { return state_.overload; }
  /// Returns the deadline, counted from the release of each instance; 0: none.
  std::int64_t deadline_ns() const noexcept RCLRT_NONBLOCKING { return state_.deadline_ns; }
  /// Returns the number in the options; kNoNumber: none.
  std::uint32_t number() const noexcept RCLRT_NONBLOCKING { return state_.options.number; }
  /// Returns the group of the callback, which may be a group of its own.
  const Group& group() const noexcept RCLRT_NONBLOCKING { return state_.group; }
  /// Returns the group in the options; nullptr: the callback has a group of its own.
  const std::shared_ptr<Group>& shared_group() const noexcept RCLRT_NONBLOCKING {
    return state_.options.group;
  }

  /// Returns a snapshot; thread-safe.
  Counters counters() const noexcept RCLRT_NONBLOCKING { return state_.counters(); }

  /// Announces one more instance to run. If the callback has no credit left (as many instances wait
  /// as its queue depth), the instance is counted as dropped instead. Thread-safe; a listener of
  /// the middleware may call this function.
  void release(std::int64_t release_ns, std::int64_t ready_ns) noexcept RCLRT_NONBLOCKING {
    if (Instance* instance = make_instance(release_ns, ready_ns)) {
      submit(instance);
    }
  }

  /// Makes an instance without queueing it: the first half of `release`, for callers that must
  /// delay `submit`. If no credit is left, returns nullptr and counts a drop.
  Instance* make_instance(std::int64_t release_ns,
                          std::int64_t ready_ns) noexcept RCLRT_NONBLOCKING {
    return state_.make_instance(release_ns, ready_ns);
  }
  /// Hands an instance from `make_instance` to the executor: the second half of `release`.
  void submit(Instance* instance) noexcept RCLRT_NONBLOCKING {
    state_.sink.load()->submit(instance);
  }
  /// Returns the number of instances that were discarded since the last call (at the first call:
  /// since the callback was added to an executor), and sets it to 0. A binding that makes a new
  /// callback for the same entity announces that many instances again.
  std::size_t take_undelivered() noexcept RCLRT_NONBLOCKING {
    return state_.undelivered.take_all();
  }

 protected:
  /// Runs one instance: takes its message, sets `info.start_ns` and calls the user's code. Only one
  /// worker at a time calls it, unless the group is reentrant. Throws the exceptions of the user's
  /// code.
  virtual Outcome run(InstanceInfo& info) = 0;

  /// Takes the input (the message) of the next `run` now. For executors that read the input of
  /// several callbacks at one time. A call of `run` or `discard_input` follows. The thread that
  /// runs the callback calls this function. May throw. The default does nothing: the entity then
  /// takes its input in `run`.
  virtual void take_input(InstanceInfo& /*info*/) {}
  /// Discards the input that `take_input` took. Called while the callback does not run.
  virtual void discard_input() noexcept {}

  /// Makes the entity call `release` from now on when it has work. The executor calls this function
  /// in the prepare phase. An entity that already has work at this time must announce that work,
  /// too.
  virtual void attach() {}
  /// Ends the announcements that `attach` began: after this function has returned, the entity does
  /// not call `release`. The executor calls it when the callback is removed or the executor is
  /// destroyed.
  virtual void detach() noexcept {}

 private:
  friend class Access;

  detail::CallbackState state_;
};

}  // namespace rclrt::executor
