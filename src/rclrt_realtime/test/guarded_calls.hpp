// SPDX-License-Identifier: Apache-2.0
// For tests of calls that are put in front of the C library's.
#pragma once

#include <gtest/gtest.h>

#include "rclrt/realtime/rt_guard.hpp"

namespace rclrt::realtime::test {

/// Without page faults: the first use of a page of code is one, and none of a test's business.
inline constexpr RtGuardOptions kCount{.action = RtGuardAction::kCount, .page_faults = false};

/// Skipped where calls cannot be seen.
class GuardedCalls : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* reason = RtGuard::blind()) {
      GTEST_SKIP() << reason;
    }
  }
};

}  // namespace rclrt::realtime::test
