// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/executor_kind.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace rclrt::model {
namespace {

TEST(ExecutorKinds, AreFoundByTheirNames) {
  for (const ExecutorTraits& each : executor_kinds()) {
    EXPECT_EQ(executor_kind_of(each.name), each.kind);
    EXPECT_EQ(traits(each.kind), each);
  }
  EXPECT_EQ(executor_kind_of("preemptiv"), std::nullopt);
  EXPECT_EQ(executor_kind_of(""), std::nullopt);
  EXPECT_THROW(traits(static_cast<ExecutorKind>(7)), std::invalid_argument);
}

TEST(ExecutorKinds, ThatRunCallbacksAreListedForAReader) {
  EXPECT_EQ(executor_names(), "wait_set, producer_consumer, thread_dispatch, preemptive, edf");
}

TEST(ExecutorKinds, DoNotContradictThemselves) {
  for (const ExecutorTraits& each : executor_kinds()) {
    EXPECT_FALSE(each.has_levels && (each.by_deadline || each.one_at_a_time)) << each.name;
    EXPECT_FALSE(each.has_scheduler_thread && !each.has_levels) << each.name;
    EXPECT_FALSE(each.polls && !each.one_at_a_time) << each.name;
  }
}

}  // namespace
}  // namespace rclrt::model
