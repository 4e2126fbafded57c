// SPDX-License-Identifier: Apache-2.0
// Ready sets, in any order. With several threads, `preemptive` with one level, in any order: a
// callback that is ready waits only for its group, or while every thread runs another one. The
// proof is in docs/explanation/several-cpus.md.
#include "bounds/kind.hpp"
#include "bounds/preemptive_form.hpp"

namespace rclrt::analysis::detail {

constinit const KindBounds kinds::kWaitSet{
    .order = Workload::Order::kAnyToTheEnd,
    .bound_core = &holistic_ready_sets,
    .skips = true,
    .pool = Pool::kSingle,
};

constinit const KindBounds kinds::kWaitSetThreads{
    .to_preemptive = &level_callbacks,
    .skips = true,
    .pool = Pool::kEnough,
    .polls_by_thread = true,
    .assumption =
        "a thread that finds no work waits, and looks again when a callback of an "
        "exclusive group has ended",
};

}  // namespace rclrt::analysis::detail
