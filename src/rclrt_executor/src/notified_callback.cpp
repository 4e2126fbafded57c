// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/notified_callback.hpp"

#include "rclrt/realtime/clock.hpp"

namespace rclrt::executor {

bool NotifiedCallback::notify(std::size_t count) noexcept RCLRT_NONBLOCKING {
  unannounced_.add(count);
  return announce_if_listening();
}

[[gnu::hot]] bool NotifiedCallback::notify_once() noexcept RCLRT_NONBLOCKING {
  unannounced_.set_one();
  return announce_if_listening();
}

[[gnu::hot]] bool NotifiedCallback::announce_if_listening() noexcept RCLRT_NONBLOCKING {
  const realtime::QuiescenceGuard::Inside inside(submitters_);
  if (inside.allowed()) {
    announce_kept();
  }
  return inside.allowed();
}

[[gnu::hot]] void NotifiedCallback::announce(std::size_t count) noexcept RCLRT_NONBLOCKING {
  const std::int64_t now = realtime::monotonic_now_ns();
  for (std::size_t i = 0; i < count; ++i) {
    release(now, now);
  }
}

void NotifiedCallback::start_listening() noexcept RCLRT_NONBLOCKING {
  submitters_.open();
  announce_kept();
}

void NotifiedCallback::stop_listening() noexcept { submitters_.close(); }

void NotifiedCallback::await_held() noexcept { submitters_.wait_until_empty(); }

}  // namespace rclrt::executor
