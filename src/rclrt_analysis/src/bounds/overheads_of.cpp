// SPDX-License-Identifier: Apache-2.0
#include "bounds/overheads_of.hpp"

#include "bounds/kind.hpp"
#include "demand.hpp"

namespace rclrt::analysis::detail {

Overheads overheads_of(Overheads overheads, model::ExecutorKind executor,
                       const model::ExecutorChoice& chosen) {
  if (bounds_of(chosen).polls_by_thread) {
    // A run costs two polls: the thread that takes it polls, and so does a thread that waits when
    // it ends. Threads poll one at a time, so that a CPU may be idle meanwhile: a hand-over, too.
    overheads.dispatch = sum(overheads.dispatch, product(2, overheads.polling));
    overheads.handover = sum(overheads.handover, overheads.polling);
  }
  if (bounds_of(executor).picks_up_above) {
    overheads.scheduler = overheads.dispatch;
  } else if (!traits(executor).has_scheduler_thread) {
    overheads.scheduler = 0;
  }
  if (!traits(executor).polls) {
    overheads.polling = 0;
  }
  return overheads;
}

}  // namespace rclrt::analysis::detail
