// SPDX-License-Identifier: Apache-2.0
// The common parts of the tests that explore interleavings.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <string>

#include "explored_atomics.hpp"
#include "interleaving_explorer.hpp"
#include "sanitizer_fibres.hpp"

namespace rclrt::realtime {

using test::Explored;
using test::ExploredWith;
using test::Explorer;
using Loads = Explorer::Loads;
using Outcome = Explorer::Outcome;

class EveryInterleaving : public testing::Test {
 protected:
  void SetUp() override {
    if (test::kFibresConfuseTheSanitizer) {
      GTEST_SKIP() << "this sanitizer does not understand fibres";
    }
  }
};

/// Prints the number of executions and checks it: with at least `at_least` different ones, the case
/// is not trivial by mistake.
inline void expect_correct(const Outcome& outcome, std::uint64_t at_least) {
  EXPECT_EQ(outcome.failure, "");
  EXPECT_TRUE(outcome.exhausted);
  EXPECT_GE(outcome.executions, at_least);
  testing::Test::RecordProperty("executions", std::to_string(outcome.executions));
  std::cout << outcome.executions << " different executions\n";
}

/// A count for the checks, which is not part of the algorithm. It is relaxed, so it adds no
/// happens-before. It is explored, so the order of begin and end of operations is explored, too.
using Ghost = Explored::Atomic<int>;

}  // namespace rclrt::realtime
