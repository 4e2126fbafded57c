// SPDX-License-Identifier: Apache-2.0
// Executors that are made by their names in files.
#include <gmock/gmock.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <typeinfo>

#include "fixture.hpp"
#include "rclrt/executor/per_group_executor.hpp"
#include "rclrt/model/robot.hpp"

namespace rclrt_rclcpp::test {
namespace {

using testing::StartsWith;
using testing::ThrowsMessage;

class MakeExecutor : public Ros {};

template <typename... Kinds>
std::size_t count_of(::testing::Types<Kinds...> /*kinds*/) {
  return sizeof...(Kinds);
}

TEST_F(MakeExecutor, MakesEachKind) {
  EXPECT_EQ(count_of(AllExecutors()), rclrt::model::rclcpp_executor_kinds().size());
  for (const rclrt::model::ExecutorKind kind : rclrt::model::rclcpp_executor_kinds()) {
    const std::string name(rclrt::model::traits(kind).name);
    const auto executor = make_executor(name, on_one_cpu());
    const auto expected = engine::make_executor(name, on_one_cpu().engine);
    const engine::Executor& made = executor->engine();
    const engine::Executor& named = *expected;
    EXPECT_EQ(typeid(made), typeid(named)) << name;
  }
  const auto named = make_executor("per_group", {});
  EXPECT_NE(dynamic_cast<const engine::PerGroupExecutor*>(&named->engine()), nullptr);
}

TEST_F(MakeExecutor, NamesTheExecutorsThereAre) {
  for (const std::string kind : {"wait_set", "edf_nonpreemptive", "preemptiv", ""}) {
    EXPECT_THAT([&] { make_executor(kind, {}); },
                ThrowsMessage<std::invalid_argument>(
                    "there is no executor \"" + kind +
                    "\" for rclcpp's nodes; choose from producer_consumer, thread_dispatch, "
                    "preemptive, edf, picas, per_group, static_order, workshop"));
  }
}

TEST_F(MakeExecutor, LogicalExecutionTimeIsRefusedWhereSetsRun) {
  const engine::KindOptions options{.static_order = {.logical_execution_time = true}};
  EXPECT_THAT([&] { make_executor("static_order", Options(), options); },
              ThrowsMessage<std::invalid_argument>(
                  StartsWith("logical execution time is not offered for rclcpp's nodes")));
  EXPECT_NO_THROW(make_executor("picas", Options(), options)) << "other kinds ignore it";
}

}  // namespace
}  // namespace rclrt_rclcpp::test
