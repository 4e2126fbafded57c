// SPDX-License-Identifier: Apache-2.0
// Which of a lane's idle workers wakes up by itself, and when.
#pragma once

#include <cstdint>

#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// Chooses which idle worker of a lane wakes up for the lane's timers, after the Leader/Followers
/// pattern (Schmidt et al., Pattern-Oriented Software Architecture 2, 2000). The leader sleeps
/// until the lane's next timer release, and runs that instance itself. Before that it need not wake
/// another worker as the new leader, because there is a backup: a worker that sleeps until half-way
/// to the release after that. If the leader is back by then, the backup sleeps again, until
/// half-way to the next release. If not, the backup becomes the leader. So a release costs one
/// wake-up before the callback starts and at most one more at the same time, and the thread with
/// warm caches runs the next release.
///
/// Invariant, whenever the lane's lock is free: if a worker sleeps and the lane has timers, then
/// one of the sleeping workers wakes up, or has been woken, no later than at the next release for
/// which a worker is needed. Each operation that breaks the invariant restores it:
/// * a worker that gives up its role and takes an instance asks `lacks_leader`, and if so wakes a
///   sleeping worker, unless as many workers are awake as the lane's groups let run: then no due
///   instance could run beside theirs, and they look at the timers when they end;
/// * adding a timer, which may make the next release earlier, wakes all workers. A change that
///   makes releases later or fewer (removal, overrun policies) only causes a needless wake-up; the
///   worker then takes a role again.
///
/// The lane's lock guards all members.
class LaneWatch {
 public:
  enum class Role : std::uint8_t { kLeader, kBackup, kFollower };
  struct Sleep {
    Role role;
    std::int64_t until_ns;
  };

  /// Gives a role to a worker that found no work and will sleep, and the time until which it
  /// sleeps. `next_ns` is the next timer release. `following_ns` is the next release after that, if
  /// the callback of `next_ns` is running.
  Sleep take_role(std::int64_t next_ns, std::int64_t following_ns) noexcept RCLRT_NONBLOCKING {
    if (next_ns != kNever && !has_leader_) {
      has_leader_ = true;
      return {Role::kLeader, next_ns};
    }
    if (following_ns != kNever && backup_ns_ == kNever) {
      backup_ns_ = next_ns + (following_ns - next_ns) / 2;
      return {Role::kBackup, backup_ns_};
    }
    return {Role::kFollower, kNever};
  }
  /// Ends the role of a worker that is awake.
  void leave(Role role) noexcept RCLRT_NONBLOCKING {
    if (role == Role::kLeader) {
      has_leader_ = false;
    } else if (role == Role::kBackup) {
      backup_ns_ = kNever;
    }
  }
  /// Returns whether the workers that sleep would miss the release at `next_ns`.
  bool lacks_leader(std::int64_t next_ns) const noexcept RCLRT_NONBLOCKING {
    return !has_leader_ && next_ns < backup_ns_;
  }
  bool has_leader() const noexcept RCLRT_NONBLOCKING { return has_leader_; }

 private:
  static constexpr std::int64_t kNever = realtime::EventCount::kForever;

  bool has_leader_ = false;
  std::int64_t backup_ns_ = kNever;  // kNever: there is none
};

}  // namespace rclrt::executor
