// SPDX-License-Identifier: Apache-2.0
// How chains are bounded under a kind of executor. kinds/KIND.cpp has that of each kind.
#pragma once

#include <string_view>
#include <vector>

#include "bounds/holistic.hpp"
#include "bounds/level_work.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis::detail {

/// The threads that run callbacks on several CPUs at once.
enum class Pool {
  kNone,         ///< there are no bounds on several CPUs
  kEnough,       ///< no callback of a level waits for a thread while a CPU is idle
  kOnePerLevel,  ///< callbacks of a level run one after the other
  kTimersApart,  ///< timers run one after the other, and so do the other callbacks
  kOfInstances,  ///< as kEnough, and messages of a callback may overtake each other
  kSingle,       ///< each executor has one thread, which may move between its CPUs
};

struct KindBounds {
  /// For a kind of executor that is analysed as `preemptive`: changes the application so that its
  /// bounds under `preemptive` hold for the original one under this kind (see PreemptiveForm).
  /// Null: the kind has an analysis of its own. `tops`: the result of model::top_priorities().
  void (*to_preemptive)(model::Application& application, const std::vector<int>& tops) = nullptr;
  /// The order in which callbacks run, as far as the analysis knows it.
  Workload::Order order = Workload::Order::kPriority;
  bool by_release = false;  ///< callbacks of one priority run in order of release, one by one
  /// Bounds the callbacks of one core, each by itself.
  void (*bound_core)(const CoreProblem& problem, Responses& responses,
                     Budget& budget) = &holistic_fixed_priority;
  bool sets_by_priority = false;  ///< within a ready set, callbacks run in order of priority
  bool skips = false;  ///< releases of a timer that come while an earlier one waits are skipped
  bool picks_up_above = false;  ///< instances are picked up above all levels
  Pool pool = Pool::kNone;
  bool orders_own_only = false;  ///< executors on one CPU run their callbacks in any order
  bool polls_by_thread = false;  ///< each thread of the pool polls, one at a time
  /// What the bounds assume of the executor; empty: ExecutorTraits::assumption.
  std::string_view assumption{};
};

/// Returns the bounds of an executor. Throws std::invalid_argument if there are none.
const KindBounds& bounds_of(const model::ExecutorChoice& executor);

namespace kinds {

extern const KindBounds kWaitSet;
extern const KindBounds kWaitSetThreads;  // several threads
extern const KindBounds kProducerConsumer;
extern const KindBounds kThreadDispatch;
extern const KindBounds kPreemptive;
extern const KindBounds kEdf;
extern const KindBounds kEvents;
extern const KindBounds kEventsTimersThread;  // timers have a thread of their own
extern const KindBounds kPicas;
extern const KindBounds kPerGroup;
extern const KindBounds kStaticOrder;
extern const KindBounds kWorkshop;

}  // namespace kinds
}  // namespace rclrt::analysis::detail
