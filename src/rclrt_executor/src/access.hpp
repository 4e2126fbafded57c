// SPDX-License-Identifier: Apache-2.0
// The engine's access to private members of the public types.
#pragma once

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/group.hpp"
#include "rclrt/executor/timer.hpp"

namespace rclrt::executor {

/// The only friend that callbacks and groups have.
class Access {
 public:
  static detail::CallbackState& state(Callback& callback) noexcept RCLRT_NONBLOCKING {
    return callback.state_;
  }
  static const detail::CallbackState& state(const Callback& callback) noexcept RCLRT_NONBLOCKING {
    return callback.state_;
  }
  static detail::GroupState& state(Group& group) noexcept RCLRT_NONBLOCKING { return group.state_; }
  static detail::TimerSchedule& schedule(TimerCallback& timer) noexcept RCLRT_NONBLOCKING {
    return timer.schedule_;
  }
  static Outcome run(Callback& callback, InstanceInfo& info) { return callback.run(info); }
  static void take_input(Callback& callback, InstanceInfo& info) { callback.take_input(info); }
  static void discard_input(Callback& callback) noexcept { callback.discard_input(); }
  static void attach(Callback& callback) { callback.attach(); }
  static void detach(Callback& callback) noexcept { callback.detach(); }
};

inline detail::CallbackState& state_of(Callback& callback) noexcept RCLRT_NONBLOCKING {
  return Access::state(callback);
}
inline const detail::CallbackState& state_of(const Callback& callback) noexcept RCLRT_NONBLOCKING {
  return Access::state(callback);
}
inline detail::GroupState& group_of(Callback& callback) noexcept RCLRT_NONBLOCKING {
  return Access::state(Access::state(callback).group);
}
inline detail::TimerSchedule& schedule_of(TimerCallback& timer) noexcept RCLRT_NONBLOCKING {
  return Access::schedule(timer);
}

/// Returns the callback as a timer; nullptr when it is not a timer.
inline TimerCallback* as_timer(Callback& callback) noexcept RCLRT_NONBLOCKING {
  return callback.type() == EntityType::kTimer ? static_cast<TimerCallback*>(&callback) : nullptr;
}

}  // namespace rclrt::executor
