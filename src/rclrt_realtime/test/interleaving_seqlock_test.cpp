// SPDX-License-Identifier: Apache-2.0
// The seqlock ring under every interleaving of a small case.
#include "every_interleaving.hpp"
#include "rclrt/realtime/seqlock_ring.hpp"

namespace rclrt::realtime {
namespace {

struct Start {
  std::uint64_t id;
  std::uint64_t copy;
};
struct End {
  std::uint64_t id;  // 0 while the activity runs
};

template <typename Atomics>
using Ring = SeqlockRing<Start, End, SeqlockRingShape{.places = 1, .tries = 1}, Atomics>;

/// With one place every write meets every read. Each writer adds `activities` and may find the
/// place in use; the reader reads `reads` times.
template <typename Atomics>
Outcome explore_ring(Loads loads, int writers, int activities, int reads) {
  return Explorer::explore(loads, [=](Explorer& run) {
    Ring<Atomics> ring;
    Ghost ended{0};  // the last activity that has ended
    const bool in_order = loads == Loads::kNewest && writers == 1;
    int recorded = 0;
    for (int w = 1; w <= writers; ++w) {
      run.spawn([&, w] {
        for (int i = 1; i <= activities; ++i) {
          const auto id = 10 * static_cast<std::uint64_t>(w) + static_cast<std::uint64_t>(i);
          if (auto* const place = ring.claim()) {
            ring.start(*place, {id, id}, {0});
            ring.end(*place, {id});
            ++recorded;
            if (in_order) {
              ended.store(static_cast<int>(id), std::memory_order_relaxed);
            }
          }
        }
      });
    }
    run.spawn([&] {
      std::uint64_t last_ticket = 0;
      for (int i = 0; i < reads; ++i) {
        const int earliest = in_order ? ended.load(std::memory_order_relaxed) : 0;
        const auto found = ring.read(0);
        if (!found) {
          continue;
        }
        Explorer::check(found->start.id == found->start.copy, "a mixture of two activities");
        Explorer::check(found->end.id == 0 || found->end.id == found->start.id,
                        "the end of another activity");
        // A writer may be slow between its ticket and its place, so this is so only for one writer.
        Explorer::check(writers > 1 || found->ticket >= last_ticket,
                        "an older activity after a later one");
        Explorer::check(static_cast<int>(found->start.id) >= earliest,
                        "older than an activity that had ended before the read");
        last_ticket = found->ticket;
      }
    });
    run.run();
    Explorer::check(recorded >= 1, "the free place was refused");
    const auto found = ring.read(0);
    Explorer::check(found && found->end.id == found->start.id, "not ended in the end");
  });
}

TEST_F(EveryInterleaving, OfSeqlockRingReadsWholeActivities) {
  expect_correct(explore_ring<Explored>(Loads::kNewest, 1, 2, 1), 10);
  expect_correct(explore_ring<Explored>(Loads::kNewest, 2, 1, 1), 100);
}

TEST_F(EveryInterleaving, OfSeqlockRingOnAWeakMachineReadsWholeActivities) {
  expect_correct(explore_ring<Explored>(Loads::kAnyAllowed, 1, 2, 1), 50);
  expect_correct(explore_ring<Explored>(Loads::kAnyAllowed, 1, 1, 2), 50);
  expect_correct(explore_ring<Explored>(Loads::kAnyAllowed, 2, 1, 1), 100);
}

TEST_F(EveryInterleaving, FindsSeqlockRingWrongWithoutItsReleasesOrItsAcquires) {
  using NoRelease = ExploredWith<test::without_release>;
  using NoAcquire = ExploredWith<test::without_acquire>;
  EXPECT_NE(explore_ring<NoRelease>(Loads::kAnyAllowed, 1, 2, 1).failure, "");
  EXPECT_NE(explore_ring<NoAcquire>(Loads::kAnyAllowed, 1, 2, 1).failure, "");
}

}  // namespace
}  // namespace rclrt::realtime
