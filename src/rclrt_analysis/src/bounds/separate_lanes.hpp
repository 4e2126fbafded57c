// SPDX-License-Identifier: Apache-2.0
// Executors in which each group has a thread and a CPU whenever it needs one.
//
// Under wait_set:threads=n, a callback waits for its group, or while min(n, CPUs) CPUs run
// callbacks of other groups. With no more groups than that, it waits for its group only: a member
// runs, or the next one starts. So each group is like an executor on a CPU of its own, which runs
// its callbacks in any order. The same holds for the two threads of events:timers_thread on two
// CPUs, if no group has members in both. docs/explanation/several-cpus.md has this argument, too.
#pragma once

#include <optional>

#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis::detail {

/// Returns the application with an executor on one CPU for each group, or for timers and for the
/// rest. Its bounds with separate_overheads(), in any order, hold for the original one. nullopt if
/// there are more groups than threads or CPUs, several executors, no stated CPUs, or another kind.
std::optional<model::Application> with_separate_lanes(const model::Application& application,
                                                      const model::ExecutorChoice& executor);

/// Returns the overheads of the application with separate lanes. Threads of a wait set draw their
/// callbacks one after the other: each callback starts after a hand-over and a poll for each draw
/// of another one, and for its own. A callback may lose time on each CPU.
Overheads separate_overheads(const Overheads& overheads, const model::Application& application,
                             const model::ExecutorChoice& executor);

}  // namespace rclrt::analysis::detail
