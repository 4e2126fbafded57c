// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/doorbell.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/deadline.hpp"
#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::realtime {

Doorbell::Doorbell() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) {
    throw_errno("creating an eventfd (EMFILE: raise `ulimit -n`)");
  }
}

Doorbell::~Doorbell() { close(fd_); }

void Doorbell::signal() noexcept RCLRT_NONBLOCKING {
  const std::uint64_t one = 1;
  // The counter cannot be full: each `arm` lets one write through.
  RCLRT_TRUST("an eventfd that is not full is written without sleeping",
              static_cast<void>(!write(fd_, &one, sizeof one)));
}

void Doorbell::arm() noexcept RCLRT_NONBLOCKING {
  std::uint64_t rings = 0;
  // Read before arming: a later signal must not be lost. Usually the eventfd is not readable.
  RCLRT_TRUST("an eventfd with EFD_NONBLOCK is read without sleeping",
              static_cast<void>(!read(fd_, &rings, sizeof rings)));
  armed_.arm();
}

bool Doorbell::wait_until_ns(std::int64_t deadline_ns) noexcept RCLRT_WAITS {
  for (;;) {
    timespec left{};
    const timespec* timeout = nullptr;
    if (deadline_ns != kNever) {
      left = to_timespec(
          std::max<std::int64_t>(std::max<std::int64_t>(deadline_ns, 0) - monotonic_now_ns(), 0));
      timeout = &left;
    }
    pollfd readable{fd_, POLLIN, 0};
    const int result = ppoll(&readable, 1, timeout, nullptr);
    if (result > 0) {
      return true;
    }
    if (result < 0 && errno != EINTR) {
      // The kernel cannot poll now (no memory): try again later, without using the CPU meanwhile.
      sleep_until_ns(std::min(deadline_ns, monotonic_now_ns() + 1'000'000));
    }
    // Interrupted or timed out. The timeout of poll is relative, so the clock decides.
    if (deadline_ns != kNever && monotonic_now_ns() >= deadline_ns) {
      return false;
    }
  }
}

}  // namespace rclrt::realtime
