// SPDX-License-Identifier: Apache-2.0
// For tests of the calls that interpose the C library's.
#pragma once

#include <gtest/gtest.h>

#include "rclrt/realtime/rt_guard.hpp"

namespace rclrt::realtime::test {

/// Page faults do not count, because the first use of a page of code is one.
inline constexpr RtGuardOptions kCount{.action = RtGuardAction::kCount, .page_faults = false};

/// Skips its tests if the guard cannot detect calls.
class GuardedCalls : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* reason = RtGuard::blind()) {
      GTEST_SKIP() << reason;
    }
  }
};

}  // namespace rclrt::realtime::test
