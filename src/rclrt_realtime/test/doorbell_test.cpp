// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/doorbell.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/deadline.hpp"

namespace rclrt::realtime {
namespace {

bool readable(int fd) {
  pollfd poll_fd{fd, POLLIN, 0};
  return poll(&poll_fd, 1, 0) == 1;
}

TEST(Doorbell, IsReadableOnlyAfterARingAndNotAfterArming) {
  Doorbell bell;
  EXPECT_FALSE(readable(bell.fd()));
  bell.ring();
  EXPECT_TRUE(readable(bell.fd()));
  EXPECT_TRUE(bell.wait_until_ns(kNever));
  bell.arm();
  EXPECT_FALSE(readable(bell.fd()));
}

TEST(Doorbell, ManyRingsAreOneSignal) {
  Doorbell bell;
  for (int i = 0; i < 1000; ++i) {
    bell.ring();
  }
  bell.arm();
  EXPECT_FALSE(readable(bell.fd()));
}

TEST(Doorbell, NeverGivesUpBeforeItsDeadline) {
  Doorbell bell;
  const std::int64_t deadline = monotonic_now_ns() + 5'000'000;
  EXPECT_FALSE(bell.wait_until_ns(deadline));
  EXPECT_GE(monotonic_now_ns(), deadline);
  EXPECT_FALSE(bell.wait_until_ns(-1));
}

}  // namespace
}  // namespace rclrt::realtime
