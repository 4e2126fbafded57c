// SPDX-License-Identifier: Apache-2.0
// A thread that runs a loop once per period, on absolute time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/cyclic_schedule.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/histogram.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {

/// The options of a cyclic thread.
struct CyclicOptions {
  ThreadOptions thread{};      ///< its hooks run before the first release and after the last cycle
  std::int64_t period_ns = 0;  ///< positive
  /// The time of the first release, on the thread's clock. If this time has passed at `start`, the
  /// thread begins at the first `first_release_ns` + n × period that has not passed. So threads
  /// with the same first release stay in phase whenever they start. std::nullopt: the first release
  /// is when the new thread has begun to run.
  std::optional<std::int64_t> first_release_ns{};
  OverrunPolicy overrun = OverrunPolicy::kCatchUp;
  std::int64_t deadline_ns = 0;  ///< from the nominal release; 0: the period
  /// How many nanoseconds before the nominal release the thread wakes up, to compensate for the
  /// machine's wake-up latency. Must be less than the period.
  std::int64_t wake_ahead_ns = 0;
  Clock* clock = &steady_clock();  ///< must outlive the thread
};

/// The argument of the loop: one release.
struct Release {
  std::uint64_t index;       ///< 0, 1, ...; counts missed releases too under kSkip
  std::int64_t nominal_ns;   ///< when it should have started
  std::int64_t lateness_ns;  ///< start - nominal; may be negative with wake_ahead_ns
};

/// A cycle that ended after its deadline.
struct DeadlineMiss {
  Release release;
  std::int64_t finish_ns;    ///< when the loop returned
  std::int64_t lateness_ns;  ///< finish - (nominal + deadline), positive
};

/// A loop may return one of these instead of nothing.
enum class LoopControl { kContinue, kStop };

/// The default hook: a missed deadline is only counted.
struct NoHook {
  void operator()(const DeadlineMiss&) const noexcept RCLRT_NONBLOCKING {}
};

/// Counts of one run, from `start` on.
struct CyclicCounts {
  std::uint64_t cycles = 0;           ///< releases that ran
  std::uint64_t missed = 0;           ///< releases that will never run (kSkip, kRebase)
  std::uint64_t overruns = 0;         ///< cycles that ended after the next release
  std::uint64_t deadline_misses = 0;  ///< cycles that ended after their deadline
};

/// Runs `loop(release)` once per period. Not movable, because the thread refers to this object.
///
/// One owner calls `start`, `stop`, `join` and the destructor; all other functions are thread-safe.
/// The statistics may be read at any time without disturbing the thread. Each value is exact, but
/// values read while the thread runs may belong to neighbouring cycles.
class RCLRT_REALTIME_EXPORT CyclicThread {
 public:
  /// Prepares the thread; `start` starts it. The thread calls `loop` with a `const Release&` once
  /// per release; `loop` returns nothing or a LoopControl. Each time `loop` returns after its
  /// deadline, the thread calls `on_deadline_miss` with a `const DeadlineMiss&`. If one of the two
  /// throws, the process terminates. Throws std::invalid_argument for invalid times or if there is
  /// no clock.
  template <typename Loop, typename OnDeadlineMiss = NoHook>
  RCLRT_SETUP CyclicThread(CyclicOptions options, Loop loop, OnDeadlineMiss on_deadline_miss = {})
      : CyclicThread(std::make_unique<BodyOf<Loop, OnDeadlineMiss>>(std::move(loop),
                                                                    std::move(on_deadline_miss)),
                     std::move(options)) {}

  /// Stops and joins.
  ~CyclicThread();
  CyclicThread(const CyclicThread&) = delete;
  CyclicThread& operator=(const CyclicThread&) = delete;

  /// Starts the thread, or starts it again after it has ended. The index and the statistics then
  /// begin again at 0. Throws std::logic_error while the thread runs, and the exceptions of
  /// `Thread`.
  RCLRT_SETUP void start();

  /// Ends the thread after the current cycle, or at once if it sleeps. The thread's own loop and
  /// signal handlers may call this function, too. The call must have returned before this object is
  /// destroyed.
  void request_stop() noexcept RCLRT_NONBLOCKING;

  /// Waits until the thread has ended. Does nothing if there is no thread.
  void join() noexcept RCLRT_WAITS;

  /// Requests a stop and joins.
  void stop() noexcept RCLRT_WAITS;

  /// Returns true from `start` until the last cycle has ended.
  bool running() const noexcept RCLRT_NONBLOCKING;

  CyclicCounts counts() const noexcept RCLRT_NONBLOCKING;
  /// Returns how many nanoseconds after its nominal release each cycle started. A cycle that
  /// started before its nominal release counts in `below_range()`.
  const Histogram& lateness() const noexcept RCLRT_NONBLOCKING { return lateness_; }
  /// Returns how long each loop took, from its start to its return.
  const Histogram& loop_time() const noexcept RCLRT_NONBLOCKING { return loop_time_; }

 private:
  struct RCLRT_REALTIME_EXPORT Body {
    virtual ~Body() = default;
    virtual LoopControl loop(const Release& release) = 0;
    virtual void deadline_missed(const DeadlineMiss& miss) = 0;
  };
  template <typename Loop, typename OnDeadlineMiss>
  struct BodyOf final : Body {
    BodyOf(Loop l, OnDeadlineMiss m) : on_release(std::move(l)), on_miss(std::move(m)) {}
    LoopControl loop(const Release& release) override {
      if constexpr (std::is_same_v<decltype(on_release(release)), LoopControl>) {
        return on_release(release);
      } else {
        on_release(release);
        return LoopControl::kContinue;
      }
    }
    void deadline_missed(const DeadlineMiss& miss) override { on_miss(miss); }
    Loop on_release;
    OnDeadlineMiss on_miss;
  };

  CyclicThread(std::unique_ptr<Body> body, CyclicOptions options);
  void run();
  bool sleep_until_release(std::int64_t& now_ns) noexcept RCLRT_WAITS;
  void finish_cycle(const Release& release, std::int64_t finish_ns);

  const CyclicOptions options_;
  const std::unique_ptr<Body> body_;

  // Accessed only by the thread while it runs.
  CyclicSchedule schedule_;

  // seq_cst, as EventCount requires for its condition: `request_stop` sets it, then notifies.
  std::atomic<bool> stop_{false};
  EventCount wake_;
  std::atomic<bool> running_{false};

  // Written only by the thread. Relaxed, because each figure is independent of the others.
  Histogram lateness_;
  Histogram loop_time_;
  std::atomic<std::uint64_t> cycles_{0};
  std::atomic<std::uint64_t> missed_{0};
  std::atomic<std::uint64_t> overruns_{0};
  std::atomic<std::uint64_t> deadline_misses_{0};

  Thread thread_;  // last: it uses everything above
};

}  // namespace rclrt::realtime
