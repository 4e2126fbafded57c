// SPDX-License-Identifier: Apache-2.0
// Common parts of the trials of bounds and verdicts: the number of systems, the distance between
// the bounds and the worst simulated response, and the checks of a verdict.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ranges>
#include <string>
#include <vector>

#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "rclrt/analysis/time_distribution.hpp"

namespace rclrt::analysis::test {

inline std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const stated = std::getenv(name);
  return stated != nullptr ? std::strtoull(stated, nullptr, 10) : otherwise;
}

/// Returns RCLRT_SOUNDNESS_TRIALS, or a number that every test run can afford.
inline std::uint64_t trials(std::uint64_t affordable) {
  return setting("RCLRT_SOUNDNESS_TRIALS", affordable);
}

/// Returns the seeds of this number of trials: RCLRT_SOUNDNESS_FIRST, or 1 if it is not set, and
/// the following ones. If a test divides the trials among `parts` settings, the seeds of each are
/// numbered from 1, so that other first seeds give other trials. The seeds end after a failure.
inline auto seeds(std::uint64_t trials, std::uint64_t parts = 1) {
  const std::uint64_t first = (setting("RCLRT_SOUNDNESS_FIRST", 1) - 1) / parts + 1;
  return std::views::iota(first, first + trials / parts) |
         std::views::take_while([](std::uint64_t) { return !testing::Test::HasFailure(); });
}

/// Collects bound / worst simulated response over many tasks or chains.
class Tightness {
 public:
  void add(std::int64_t bound, std::int64_t simulated) {
    if (simulated > 0) {
      ratios_.push_back(static_cast<double>(bound) / static_cast<double>(simulated));
    }
  }

  void print(const std::string& what) {
    std::sort(ratios_.begin(), ratios_.end());
    std::printf("[ tightness ] %s: %zu bounds, median %.3f, 95th percentile %.3f, largest %.3f\n",
                what.c_str(), ratios_.size(), at(0.5), at(0.95), at(1));
  }

  std::size_t count() const { return ratios_.size(); }

 private:
  double at(double share) const {
    if (ratios_.empty()) {
      return 0;
    }
    const auto last = static_cast<double>(ratios_.size() - 1);
    return ratios_[static_cast<std::size_t>(share * last)];
  }

  std::vector<double> ratios_;
};

/// Returns true with probability `share`.
inline bool chance(SimulationRandom& random, double share) {
  return static_cast<double>(random.uniform(0, 999'999)) < share * 1e6;
}

/// Checks that each verdict agrees with its bound and its conditions, and `feasible` with them.
inline void check_verdicts(const model::Application& application, const Judgement& judgement) {
  ASSERT_EQ(judgement.chains.size(), application.chains.size());
  bool holds = true;
  for (std::size_t i = 0; i < judgement.chains.size(); ++i) {
    const ChainBound& chain = judgement.chains[i];
    const model::Chain& stated = application.chains[i];
    const bool fits = chain.bound && *chain.bound <= stated.deadline.count();
    const bool sure = chain.assumptions.empty();
    ASSERT_EQ(chain.verdict == Verdict::kProved, fits && sure) << stated.id;
    ASSERT_EQ(chain.verdict == Verdict::kConditional, fits && !sure) << stated.id;
    ASSERT_TRUE(chain.bound || !chain.note.empty()) << stated.id << " has no bound and no reason";
    holds = holds && fits;
  }
  ASSERT_EQ(judgement.feasible, holds);
}

/// Checks that no chain with a proved deadline misses it in a simulation.
inline void check_proved(const model::Application& application, const Judgement& judgement,
                         const SimulationResult& result) {
  for (std::size_t i = 0; i < judgement.chains.size(); ++i) {
    if (judgement.chains[i].verdict == Verdict::kProved) {
      ASSERT_EQ(result.chains[i].missed, 0U) << application.chains[i].id;
      ASSERT_LE(result.chains[i].response.worst_ns, application.chains[i].deadline.count())
          << application.chains[i].id;
    }
  }
}

}  // namespace rclrt::analysis::test
