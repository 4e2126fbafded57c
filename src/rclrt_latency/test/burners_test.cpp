// SPDX-License-Identifier: Apache-2.0
#include "burners.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::latency {
namespace {

std::vector<int> one_cpu() { return {realtime::allowed_cpus().front()}; }

/// Blocks until the process behind a pidfd has ended.
void wait_for_end(int pidfd) {
  pollfd ended{.fd = pidfd, .events = POLLIN, .revents = 0};
  while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
  EXPECT_NE(ended.revents & POLLIN, 0);
}

TEST(Burners, AreOneProcessPerCpuAndEndWithTheObject) {
  pid_t burner = 0;
  {
    const Burners burners(one_cpu());
    ASSERT_EQ(burners.processes().size(), 1U);
    burner = burners.processes().front();
    EXPECT_EQ(kill(burner, 0), 0);
  }
  EXPECT_EQ(kill(burner, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Burners, StayWithTheObjectThatTheyAreMovedTo) {
  Burners first(one_cpu());
  const pid_t burner = first.processes().front();
  const Burners second(std::move(first));
  EXPECT_EQ(second.processes(), std::vector{burner});
  EXPECT_EQ(kill(burner, 0), 0);
}

TEST(Burners, EndWhenTheirParentIsKilled) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe2(pipe_ends.data(), O_CLOEXEC), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    const Burners burners(one_cpu());
    const pid_t burner = burners.processes().front();
    if (write(pipe_ends[1], &burner, sizeof burner) == sizeof burner) {
      pause();
    }
    _exit(1);
  }
  pid_t burner = 0;
  ASSERT_EQ(read(pipe_ends[0], &burner, sizeof burner), static_cast<ssize_t>(sizeof burner));
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, burner, 0));
  ASSERT_GE(pidfd, 0);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  wait_for_end(pidfd);
  close(pidfd);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

}  // namespace
}  // namespace rclrt::latency
