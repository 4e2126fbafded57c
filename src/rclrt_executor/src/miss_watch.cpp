// SPDX-License-Identifier: Apache-2.0
#include "miss_watch.hpp"

#include <mutex>
#include <span>

namespace rclrt::executor {

MissWatch::MissWatch(MissHandler& handler, std::size_t remembered, std::size_t budgets)
    : handler_(handler), history_(remembered), pool_(remembered, budgets) {}

void MissWatch::report(DeadlineMiss& miss, const ExecutionInterval& self,
                       bool has_budget) noexcept RCLRT_WAITS {
  {
    BlamePool::Room& room = pool_.lock(has_budget);
    const std::scoped_lock lock(std::adopt_lock, room.mutex);
    const std::int64_t from_ns = miss.info.counts_from_ns();
    const std::size_t others = history_.copy(from_ns, miss.end_ns, miss.info.id, room.intervals);
    miss.blame = explain(from_ns, miss.end_ns, std::span(&self, 1),
                         std::span(room.intervals).first(others), cpus_.load(), room.scratch());
  }
  handler_.missed(miss);
}

}  // namespace rclrt::executor
