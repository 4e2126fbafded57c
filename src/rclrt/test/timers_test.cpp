// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using namespace std::chrono_literals;

class Timers : public EveryExecutor {};
INSTANTIATE_TEST_SUITE_P(, Timers, ::testing::ValuesIn(executor_names()), parameter_name);

TEST_P(Timers, AreReleasedOnAnAbsoluteGridFromTheEpoch) {
  Node node(context, "node");
  const auto spinning = executor();
  std::vector<std::int64_t> releases;
  const auto timer = node.create_wall_timer(2ms,
                                            [&](const InstanceInfo& info) {
                                              EXPECT_GE(info.start_ns, info.release_ns);
                                              releases.push_back(info.release_ns);
                                              if (releases.size() == 5) {
                                                spinning->cancel();
                                              }
                                            },
                                            {}, {.offset = 1ms});
  spinning->add_node(node);
  spinning->spin();
  for (const std::int64_t release : releases) {
    EXPECT_EQ((release - spinning->engine().epoch_ns() - 1'000'000) % 2'000'000, 0);
  }
}

TEST_P(Timers, StartOnePeriodAfterTheEpochUnlessToldOtherwise) {
  Node node(context, "node");
  const auto spinning = executor();
  std::int64_t first = 0;
  const auto timer = node.create_wall_timer(3ms, [&](const InstanceInfo& info) {
    if (first == 0) {
      first = info.release_ns;
    }
    spinning->cancel();
  });
  spinning->add_node(node);
  spinning->spin();
  EXPECT_EQ((first - spinning->engine().epoch_ns()) % 3'000'000, 0);
  EXPECT_GE(first, spinning->engine().epoch_ns() + 3'000'000);
}

}  // namespace
}  // namespace rclrt::test
