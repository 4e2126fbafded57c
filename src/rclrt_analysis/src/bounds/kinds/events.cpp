// SPDX-License-Identifier: Apache-2.0
// `preemptive` with one level: one worker takes the callbacks in order of release. If timers have a
// thread of their own, that thread has the same priority: callbacks delay each other in any order.
#include "bounds/kind.hpp"
#include "bounds/preemptive_form.hpp"

namespace rclrt::analysis::detail {

namespace {

/// Gives all callbacks one priority. One thread needs no groups.
void join_callbacks(model::Application& application, const std::vector<int>& tops) {
  level_callbacks(application, tops);
  for (model::Callback& callback : application.callbacks) {
    callback.group.reset();
  }
}

}  // namespace

constinit const KindBounds kinds::kEvents{
    .to_preemptive = &join_callbacks, .by_release = true, .pool = Pool::kSingle};

constinit const KindBounds kinds::kEventsTimersThread{
    .to_preemptive = &level_callbacks,
    .pool = Pool::kTimersApart,
    .assumption =
        "each executor has a thread for its timers, and another one for all other "
        "callbacks",
};

}  // namespace rclrt::analysis::detail
