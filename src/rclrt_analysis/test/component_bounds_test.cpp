// SPDX-License-Identifier: Apache-2.0
// Bounds by one busy period of all executors that exchange messages or share a CPU.
#include <gtest/gtest.h>

#include <vector>

#include "application_builder.hpp"
#include "bounds_ms.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis {
namespace {

// The delays of the two chains feed each other: by single callbacks there is no bound. But one CPU
// could do the work of both, 20.8 / 33 + 35.2 / 100 = 98 %. In its busy period, the later instances
// of a chain do not delay the last callback of the first one.
TEST(ComponentBounds, OfChainsBackAndForthExistIfOneCpuCouldDoTheWorkOfAll) {
  auto application = Builder()
                         .timer("camera", 33, 4.8)
                         .subscription("detect", "camera", 7.2)
                         .subscription("track", "detect", 4)
                         .subscription("predict", "track", 4.8)
                         .timer("lidar", 100, 9.6)
                         .subscription("ground", "lidar", 11.2)
                         .subscription("map", "ground", 8)
                         .subscription("cost", "map", 6.4)
                         .chain("see", {"camera", "detect", "track", "predict"}, 0)
                         .chain("scan", {"lidar", "ground", "map", "cost"}, 0)
                         .done();
  application.executors.push_back({.name = "plan", .cpus = {1}});
  application.nodes.push_back({.name = "other", .name_space = "/", .executor = 1});
  for (const std::size_t callback : {1U, 3U, 5U, 7U}) {
    application.callbacks[callback].node = 1;
  }
  // see: 20.8 + 2 * (20.8 - 4.8) + 35.2 = 88 ms, with 3 releases of camera. scan: 35.2 + 3 * 20.8.
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kPreemptive), (std::vector<double>{88, 97.6}));
  // A message is on its way for at most 0.1 ms, which adds to each callback but the last ones:
  // 21.1 + 2 * 16.3 + 35.5 = 89.2 and 35.5 + 3 * 21.1 = 98.8.
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kPreemptive, {.far = {.min = 0, .max = 100'000}}),
            (std::vector<double>{89.2, 98.8}));
}

}  // namespace
}  // namespace rclrt::analysis
