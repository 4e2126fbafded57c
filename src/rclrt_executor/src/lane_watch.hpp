// SPDX-License-Identifier: Apache-2.0
// Which of a lane's idle workers wakes up by itself, and when.
#pragma once

#include <cstdint>

#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// One idle worker, the keeper, sleeps until the lane's next release. It takes that release itself
/// and need not hand over to anybody first, for another one, the deputy, sleeps until half-way
/// to the release after it. If the keeper is back by then, the deputy goes on sleeping, half-way to
/// the release after that; if not, it becomes the keeper. So a release costs one wake-up on its
/// path and one at most beside it, and the thread that is warm runs the next one, too.
///
/// Invariant, whenever the lane's lock is free: if a worker sleeps and the lane has timers, then
/// one of those that sleep wakes up, or has been woken, no later than at the next release that
/// needs it. Who breaks it mends it:
/// * who leaves its post and takes an instance asks `lacks_keeper`, and if so wakes one who sleeps;
/// * who adds a timer, and may so bring the next release forward, wakes all.
/// What makes releases later or fewer (removal, overrun policies) only lets somebody wake up for
/// nothing, who then takes a post anew.
///
/// Guarded by the lane's lock.
class LaneWatch {
 public:
  enum class Post : std::uint8_t { kKeeper, kDeputy, kSpare };
  struct Sleep {
    Post post;
    std::int64_t until_ns;
  };

  /// A worker found nothing and will sleep. `next_ns`: the next release; `following_ns`: the next
  /// after that one is taken and runs.
  Sleep take_post(std::int64_t next_ns, std::int64_t following_ns) noexcept RCLRT_NONBLOCKING {
    if (next_ns != kNever && !has_keeper_) {
      has_keeper_ = true;
      return {Post::kKeeper, next_ns};
    }
    if (following_ns != kNever && deputy_ns_ == kNever) {
      deputy_ns_ = next_ns + (following_ns - next_ns) / 2;
      return {Post::kDeputy, deputy_ns_};
    }
    return {Post::kSpare, kNever};
  }
  /// It is awake.
  void leave(Post post) noexcept RCLRT_NONBLOCKING {
    if (post == Post::kKeeper) {
      has_keeper_ = false;
    } else if (post == Post::kDeputy) {
      deputy_ns_ = kNever;
    }
  }
  /// Whether those who sleep would miss the release at `next_ns`.
  bool lacks_keeper(std::int64_t next_ns) const noexcept RCLRT_NONBLOCKING {
    return !has_keeper_ && next_ns < deputy_ns_;
  }
  bool has_keeper() const noexcept RCLRT_NONBLOCKING { return has_keeper_; }

 private:
  static constexpr std::int64_t kNever = realtime::EventCount::kForever;

  bool has_keeper_ = false;
  std::int64_t deputy_ns_ = kNever;  // kNever: there is none
};

}  // namespace rclrt::executor
