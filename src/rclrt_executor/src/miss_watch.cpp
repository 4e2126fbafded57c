// SPDX-License-Identifier: Apache-2.0
#include "miss_watch.hpp"

#include <mutex>
#include <span>

namespace rclrt::executor {

MissWatch::MissWatch(MissHandler& handler, std::size_t remembered)
    : handler_(handler),
      history_(remembered),
      stretches_(remembered),
      events_(3 * (remembered + 1)),
      running_(remembered + 1),
      tallies_(remembered + 1) {}

void MissWatch::report(DeadlineMiss& miss, const Stretch& self) noexcept RCLRT_WAITS {
  {
    const std::scoped_lock lock(mutex_);
    const std::size_t others =
        history_.copy(miss.info.release_ns, miss.end_ns, miss.info.id, stretches_);
    miss.blame = explain(miss.info.release_ns, miss.end_ns, std::span(&self, 1),
                         std::span(stretches_).first(others), cpus_.load(),
                         {.events = events_, .active = running_, .tallies = tallies_});
  }
  handler_.missed(miss);
}

}  // namespace rclrt::executor
