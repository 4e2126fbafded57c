// SPDX-License-Identifier: Apache-2.0
// Every kind is made by its name.
#include "rclrt/executor/kinds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeindex>

#include "all_executors.hpp"

namespace rclrt::executor::test {
namespace {

std::unique_ptr<Executor> make_by_name(std::string_view name, const KindOptions& kind_options = {},
                                       ExecutorOptions options = {}) {
  options.name = "test";
  return make_executor(name, std::move(options), kind_options,
                       [] { return std::make_unique<FakeReadiness>(); });
}

TEST(Kinds, AreDifferentTypes) {
  std::set<std::type_index> made;
  for (const std::string_view name : executor_names()) {
    const auto executor = make_by_name(name);
    const Executor& kind = *executor;
    EXPECT_TRUE(made.insert(typeid(kind)).second) << name;
  }
}

TEST(Kinds, TakeTheirOwnOptions) {
  KindOptions kind_options;
  kind_options.wait_set.threads = 3;
  const auto wait_set = make_by_name("wait_set", kind_options);
  EXPECT_EQ(dynamic_cast<const WaitSetExecutor&>(*wait_set).wait_set().threads, 3U);
  kind_options.static_order.trigger = nullptr;
  EXPECT_THAT([&] { make_by_name("static_order", kind_options); },
              testing::ThrowsMessage<std::invalid_argument>(
                  testing::HasSubstr("static_order needs a trigger")));
  EXPECT_EQ(make_by_name("picas", kind_options)->options().name, "test");
}

TEST(Kinds, AreListedForAnUnknownName) {
  try {
    make_by_name("fast");
    FAIL() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "unknown executor \"fast\": choose from wait_set, producer_consumer, "
                 "thread_dispatch, preemptive, edf, events, picas, per_group, static_order, "
                 "workshop");
  }
}

TEST(Kinds, AWaitSetNeedsASource) {
  try {
    make_executor("wait_set", {.name = "test"});
    FAIL() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "executor \"test\": a wait set executor needs a ReadinessSource, not nullptr");
  }
}

}  // namespace
}  // namespace rclrt::executor::test
