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
  held_back_.fetch_add(1);
  const bool listening = listening_.load();
  if (listening) {
    announce_kept();
  }
  held_back_.fetch_sub(1);
  return listening;
}

[[gnu::hot]] void NotifiedCallback::announce(std::size_t count) noexcept RCLRT_NONBLOCKING {
  const std::int64_t now = realtime::monotonic_now_ns();
  for (std::size_t i = 0; i < count; ++i) {
    release(now, now);
  }
}

void NotifiedCallback::start_listening() noexcept RCLRT_NONBLOCKING {
  listening_.store(true);
  announce_kept();
}

void NotifiedCallback::stop_listening() noexcept {
  listening_.store(false);
  await_held();
}

void NotifiedCallback::await_held() noexcept {
  // Polled, because a notification would cost time in every message, and need memory that outlives
  // this object.
  while (held_back_.load() != 0) {
    realtime::sleep_until_ns(realtime::monotonic_now_ns() + 50'000);
  }
}

}  // namespace rclrt::executor
