// SPDX-License-Identifier: Apache-2.0
#include "spare_watch.hpp"

#include "releaser.hpp"
#include "thread_state.hpp"

namespace rclrt::executor {

void LaneWorker::begin() noexcept RCLRT_NONBLOCKING {
  thread.store(this_thread_number(), kRelaxed);  // only a number
  begin_releaser(priority);
}

void SpareWatch::add(LaneWorker& worker) noexcept {
  worker.next = first_.load();
  first_.store(&worker);
}

void SpareWatch::clear() noexcept {
  first_.store(nullptr);
  watcher_ = nullptr;
  until_ns_ = realtime::EventCount::kForever;
}

bool SpareWatch::all_busy(std::size_t limit) const noexcept RCLRT_NONBLOCKING {
  std::size_t busy = 0;
  for (const LaneWorker* each = first_.load(); each != nullptr; each = each->next) {
    busy += each->kind == LaneWorker::Kind::kWorker && each->is_busy() ? 1 : 0;
  }
  return busy >= limit;
}

bool SpareWatch::may_stand_in(std::size_t limit) const noexcept RCLRT_NONBLOCKING {
  std::size_t running = 0;
  for (const LaneWorker* each = first_.load(); each != nullptr; each = each->next) {
    running += each->is_busy() && !each->is_waiting() ? 1 : 0;
  }
  return all_busy(limit) && running < limit;
}

void SpareWatch::check(const LaneWorker& self, std::int64_t now_ns) noexcept RCLRT_WAITS {
  for (LaneWorker* each = first_.load(); each != nullptr; each = each->next) {
    if (each != &self && each->is_busy()) {
      each->check(now_ns, kPatience_ns);
    }
  }
}

/// A thread that sleeps less than all of the time may wait, too: one that waits by polling uses
/// some CPU time. So a thread counts as waiting up to a small share of CPU time.
void LaneWorker::check(std::int64_t now_ns, std::int64_t patience_ns) noexcept RCLRT_WAITS {
  constexpr std::int64_t kShare = 8;           // a waiting thread uses at most 1/8 of the time
  constexpr std::int64_t kAtOnce_ns = 50'000;  // plus this, however short the time is
  // All relaxed: estimates, see LaneWorker::seen_turn.
  const std::uint64_t now = turn.load(kRelaxed);
  const int number = thread.load(kRelaxed);
  const std::int64_t cpu_ns = cpu_time_of_ns(number);
  const std::int64_t elapsed_ns = now_ns - seen_since_ns.load(kRelaxed);
  const std::int64_t used_ns = cpu_ns - seen_cpu_ns.load(kRelaxed);
  const bool is_new = seen_turn.load(kRelaxed) != now;
  const bool runs = is_new || used_ns > elapsed_ns / kShare + kAtOnce_ns;
  if (!runs && elapsed_ns < patience_ns) {
    return;  // the state is unchanged
  }
  if (runs) {
    waiting_turn.store(0, kRelaxed);
  } else {
    waiting_turn.store(is_asleep(number) ? now : 0, kRelaxed);
  }
  seen_turn.store(now, kRelaxed);
  seen_cpu_ns.store(cpu_ns, kRelaxed);
  seen_since_ns.store(now_ns, kRelaxed);
}

}  // namespace rclrt::executor
