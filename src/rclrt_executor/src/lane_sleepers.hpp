// SPDX-License-Identifier: Apache-2.0
// The sleeping workers of a lane: which of them a release wakes, and when it wakes none.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "lane_watch.hpp"
#include "rclrt/realtime/atomics.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// The slots in which the workers of a lane sleep. A slot shows whether its worker sleeps, in which
/// role, and on which CPU it fell asleep. The kernel wakes a SCHED_FIFO thread on that CPU if the
/// thread that runs there is less urgent, so a SCHED_FIFO thread that will be preempted wakes a
/// worker of its own CPU: this costs no interrupt of another CPU.
///
/// At most `limit` workers work at the same time: a release wakes no further one if so many are
/// awake or have been woken. The lane sets the limit to the number of instances that its groups let
/// run at the same time; a further worker would find nothing to run.
///
/// Invariant: if a releasing thread reads another state than kAsleep and kFree in a slot, the
/// worker of this slot looks at the lane's queue later than that. All accesses are seq_cst:
/// * A releasing thread first makes an instance visible, and then reads the slots.
/// * A worker first stores kAsleep, and then looks at the queue once more before it sleeps.
/// In the single total order either the releasing thread sees kAsleep, or the worker's last look
/// comes after the instance became visible. So if `limit` slots are not asleep, as many workers
/// will look at the queue, and no wake-up is lost. `test/lane_sleepers_interleaving_test.cpp` runs
/// this code under every interleaving of small cases.
///
/// Only the worker stores kAwake, kAsleep and kFree into its slot. A releasing thread changes
/// kAsleep to kClaimed, wakes the worker with a system call, and changes kClaimed to kCalled. If it
/// is preempted between the two, another releasing thread that sees kClaimed makes the system call
/// in its place. So an urgent release never waits for a less urgent one. A slot has a generation,
/// which each sleep increases: a change that comes too late to a later sleep has no effect. (A
/// generation has 16 bits. If a releasing thread is preempted right after its system call for
/// exactly a multiple of 65536 sleeps of the worker, with the same role and CPU, its change may hit
/// a later claim. Then an urgent release may wait until the thread of that claim makes its system
/// call. No wake-up is lost.)
template <typename Atomics = realtime::StdAtomics>
class BasicLaneSleepers {
 public:
  using Role = LaneWatch::Role;
  using Slot = typename Atomics::Futex;
  using Word = std::uint32_t;

  /// The CPU that a wake-up prefers, or avoids.
  struct Preference {
    static constexpr int kNone = -1;
    int cpu = kNone;
    bool avoids = false;  ///< prefers the other CPUs
  };

  /// At most `most` workers are here at the same time.
  RCLRT_SETUP explicit BasicLaneSleepers(std::size_t most)
      : count_(static_cast<std::uint32_t>(most)),
        many_(most > few_.size() ? std::make_unique<Slot[]>(most) : nullptr) {}

  /// Sets the number of workers that may be awake at the same time, at least 1. Thread-safe.
  void set_limit(std::size_t limit) noexcept RCLRT_NONBLOCKING {
    limit_.store(static_cast<std::uint32_t>(limit));
  }
  std::size_t limit() const noexcept RCLRT_NONBLOCKING { return limit_.load(); }

  // Called by a worker with the lane's lock held:

  /// Returns a free slot, which is awake now; there must be one. `depart` gives it back.
  Slot& arrive() noexcept RCLRT_NONBLOCKING {
    const std::span<Slot> all{first(), count_};
    std::size_t i = 0;
    while (i + 1 < all.size() && state_of(all[i].load()) != kFree) {
      ++i;
    }
    if (used_.load() <= i) {
      used_.store(static_cast<std::uint32_t>(i + 1));
    }
    rise(all[i], all[i].load());
    return all[i];
  }
  void depart(Slot& own) noexcept RCLRT_NONBLOCKING {
    own.store((own.load() & kGenerations) | kFree);
  }
  /// Announces that the worker sleeps. The worker then looks at the queue once more, and calls
  /// `sleep` with the returned word, or `rise`.
  Word fall_asleep(Slot& own, Role role, int cpu) noexcept RCLRT_NONBLOCKING {
    const Word word = ((own.load() & kGenerations) + kGeneration) | (cpu_bits(cpu) << kCpuShift) |
                      (static_cast<Word>(role) << kRoleShift) | kAsleep;
    own.store(word);
    return word;
  }
  /// Announces that the worker is awake. `word`: from `fall_asleep`.
  void rise(Slot& own, Word word) noexcept RCLRT_NONBLOCKING {
    own.store((word & kGenerations) | kAwake);
  }

  // Called by a worker without the lock:

  /// Sleeps until a release wakes the worker, or until `until_ns` at the latest. May return
  /// spuriously. The worker then looks at the queue.
  void sleep(Slot& own, Word word, std::int64_t until_ns) noexcept RCLRT_WAITS {
    Atomics::wait_while(own, word, until_ns);
    rise(own, word);
  }

  // Called by any thread that has made an instance visible:

  /// Wakes the most suitable sleeping worker, unless `limit` workers are awake. Returns whether it
  /// woke one. Prefers the CPU, then followers, then the backup: if the leader takes an instance,
  /// another worker may have to be woken in its place.
  bool wake_one(Preference preference = {}) noexcept RCLRT_NONBLOCKING {
    for (;;) {
      std::size_t awake = 0;
      Slot* best = nullptr;
      Word word_of_best = 0;
      unsigned rank_of_best = 0;
      for (Slot& each : slots()) {
        const Word word = each.load();
        if (state_of(word) == kAsleep) {
          const unsigned rank = rank_of(word, preference);
          if (best == nullptr || rank < rank_of_best) {
            best = &each;
            word_of_best = word;
            rank_of_best = rank;
          }
          continue;
        }
        awake += state_of(word) != kFree ? 1 : 0;
        if (state_of(word) == kClaimed) {
          call(each, word);
        }
      }
      if (best == nullptr || awake >= limit_.load()) {
        return false;
      }
      if (claim(*best, word_of_best)) {
        return true;
      }
    }
  }
  /// Wakes all sleeping workers.
  void wake_all() noexcept RCLRT_NONBLOCKING {
    for (Slot& each : slots()) {
      const Word word = each.load();
      if (state_of(word) == kAsleep) {
        claim(each, word);  // it fails if the worker is awake or another thread wakes it
      } else if (state_of(word) == kClaimed) {
        call(each, word);
      }
    }
  }

 private:
  // The word of a slot: the state, the role, the CPU (its low bits), and the generation.
  enum State : Word { kFree = 0, kAwake = 1, kAsleep = 2, kClaimed = 3, kCalled = 4 };
  static constexpr Word kStates = 7;
  static constexpr unsigned kRoleShift = 3;
  static constexpr unsigned kCpuShift = 5;
  static constexpr Word kCpus = 0x7FF;
  static constexpr Word kGeneration = Word{1} << 16;
  static constexpr Word kGenerations = ~(kGeneration - 1);

  static Word state_of(Word word) noexcept RCLRT_NONBLOCKING { return word & kStates; }
  static Word cpu_bits(int cpu) noexcept RCLRT_NONBLOCKING {
    return static_cast<Word>(cpu) & kCpus;
  }
  static unsigned rank_of(Word word, Preference preference) noexcept RCLRT_NONBLOCKING {
    const unsigned role =
        static_cast<unsigned>(Role::kFollower) - ((word >> kRoleShift) & 3U);  // 0: a follower
    const bool is_there = ((word >> kCpuShift) & kCpus) == cpu_bits(preference.cpu);
    const bool suits = preference.cpu == Preference::kNone || is_there != preference.avoids;
    return role + (suits ? 0 : 3);
  }

  /// Claims a sleeping worker and wakes it. Returns false if its slot has changed meanwhile.
  static bool claim(Slot& slot, Word asleep) noexcept RCLRT_NONBLOCKING {
    Word expected = asleep;
    const Word claimed = (asleep & ~kStates) | kClaimed;
    if (!slot.compare_exchange_strong(expected, claimed, std::memory_order_seq_cst,
                                      std::memory_order_seq_cst)) {
      return false;
    }
    call(slot, claimed);
    return true;
  }
  /// Wakes a claimed worker; it may be awake already.
  static void call(Slot& slot, Word claimed) noexcept RCLRT_NONBLOCKING {
    Atomics::wake(slot, 1);
    slot.compare_exchange_strong(claimed, (claimed & ~kStates) | kCalled, std::memory_order_seq_cst,
                                 std::memory_order_seq_cst);
  }

  Slot* first() noexcept RCLRT_NONBLOCKING { return many_ ? many_.get() : few_.data(); }
  /// Returns the slots that workers have had. One that arrives for the first time takes its last
  /// look at the queue after it has stored `used_`, so the invariant holds for it, too.
  std::span<Slot> slots() noexcept RCLRT_NONBLOCKING { return {first(), used_.load()}; }

  typename Atomics::template Atomic<std::uint32_t> limit_{1};
  typename Atomics::template Atomic<std::uint32_t> used_{0};  // only grows, with the lane's lock
  std::array<Slot, 2> few_{};  // beside the rest: most lanes have no more
  const std::uint32_t count_;
  const std::unique_ptr<Slot[]> many_;
};

using LaneSleepers = BasicLaneSleepers<>;

}  // namespace rclrt::executor
