// SPDX-License-Identifier: Apache-2.0
/// Bounds on several CPUs do not depend on the order of lists in the file. RCLRT_SOUNDNESS_TRIALS
/// sets the number of applications.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "file_order.hpp"
#include "random_several_cpus.hpp"
#include "rclrt/analysis/judge.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

using Times = std::map<std::string, std::optional<Ticks>>;

/// Returns the bound of each chain, and the most waiting instances of each callback, by name.
Times times_of(const model::Application& application, const model::ExecutorChoice& executor,
               const Overheads& overheads) {
  Times result;
  const auto bounds = chain_bounds(application, executor, overheads);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    result["chain " + application.chains[i].id] = bounds[i].bound;
  }
  const auto queues = queue_bounds(application, executor, overheads);
  for (std::size_t i = 0; i < queues.size(); ++i) {
    result["queue of " + application.callbacks[i].id] = queues[i].pending;
  }
  return result;
}

class SeveralCpusOrder : public testing::TestWithParam<const char*> {
 protected:
  static model::Application application(RandomSeveralCpus& random, int cpus, std::uint64_t seed) {
    model::Application result = random.make(cpus, seed % 5 == 0);
    if (seed % 2 == 0) {
      random.spread_over(result, cpus);
    }
    if (seed % 3 == 0) {
      random.state_offsets(result);
    }
    if (seed % 7 == 0) {
      for (model::Chain& chain : result.chains) {
        chain.priority = 1;
      }
    }
    return result;
  }
};

TEST_P(SeveralCpusOrder, NoBoundDependsOnTheOrderInTheFile) {
  const model::ExecutorChoice executor = model::parse_executor(GetParam());
  std::size_t bounds = 0;
  std::size_t none = 0;
  for (const std::uint64_t seed : test::seeds(test::trials(6))) {
    const int cpus = seed % 6 == 0 ? 8 : 2 + static_cast<int>(seed % 3);
    RandomSeveralCpus random(seed);
    model::Application first = application(random, cpus, seed);
    Overheads overheads;
    if (seed % 4 == 0) {
      overheads.timer_jitter = ms(random.uniform(0, 2)).count();
      overheads.near.max = ms(random.uniform(0, 0.5)).count();
    }
    const Times expected = times_of(first, executor, overheads);
    for (const auto& [name, time] : expected) {
      ++(time ? bounds : none);
    }
    FileOrder order(seed);
    for (int other = 0; other < 2; ++other) {
      model::Application moved = first;
      order.change(moved);
      const Times times = times_of(moved, executor, overheads);
      for (const auto& [name, time] : expected) {
        EXPECT_EQ(times.at(name), time) << name << ", seed " << seed << ", " << cpus << " CPUs";
      }
      if (HasFailure()) {
        std::printf("%s\nand\n%s", describe(first).c_str(), describe(moved).c_str());
        return;
      }
    }
  }
  EXPECT_GT(bounds, none / 4);
}

std::string kind_name(const testing::TestParamInfo<const char*>& executor) {
  std::string name = executor.param;
  std::ranges::replace_if(name, [](char each) { return each == ':' || each == '='; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, SeveralCpusOrder,
                         testing::Values("preemptive", "producer_consumer", "thread_dispatch",
                                         "per_group", "workshop", "wait_set:threads=3",
                                         "events:timers_thread"),
                         kind_name);

}  // namespace
}  // namespace rclrt::analysis
