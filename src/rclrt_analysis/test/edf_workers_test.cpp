// SPDX-License-Identifier: Apache-2.0
/// Bounds of EDF executors that share a CPU.
#include <gtest/gtest.h>

#include <vector>

#include "application_builder.hpp"
#include "bounds_ms.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis {
namespace {

// The worker of the first executor is above the lower worker of the second one, which runs c. The
// upper worker of the second one runs b alone or above c.
TEST(EdfWorkers, OfExecutorsOnOneCpuDelayThoseThatAreNotAbove) {
  auto application = Builder()
                         .timer("a", 10, 1)
                         .timer("b", 20, 2)
                         .timer("c", 40, 5)
                         .chain("a", {"a"}, 1)
                         .chain("b", {"b"}, 1)
                         .chain("c", {"c"}, 1)
                         .done();
  application.executors.push_back({.name = "second", .cpus = {0}});
  application.nodes.push_back({.name = "other", .name_space = "/", .executor = 1});
  application.callbacks[1].node = application.callbacks[2].node = 1;
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kEdf), (std::vector<double>{1 + 2, 2 + 1, 8}));
  application.executors[1].top_priority = 50;
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kEdf), (std::vector<double>{1, 2 + 1, 8}));
  application.executors[0].top_priority = 40;
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kEdf), (std::vector<double>{8, 2, 5 + 2}));
}

// The first executor has a, due after 10, and c, due after 40. Its lower worker runs c, so c delays
// neither a nor b. The worker of b, in the second executor, may delay both of them.
TEST(EdfWorkers, OrderTheirOwnInstancesByDeadline) {
  auto application = Builder()
                         .timer("a", 10, 1)
                         .timer("c", 40, 5)
                         .timer("b", 20, 2)
                         .chain("a", {"a"}, 1)
                         .chain("c", {"c"}, 1)
                         .done();
  application.executors.push_back({.name = "second", .cpus = {0}});
  application.nodes.push_back({.name = "other", .name_space = "/", .executor = 1});
  application.callbacks[2].node = 1;
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kEdf), (std::vector<double>{1 + 2, 5 + 1 + 2}));
}

}  // namespace
}  // namespace rclrt::analysis
