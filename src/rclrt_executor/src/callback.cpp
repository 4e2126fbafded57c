// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/callback.hpp"

#include <utility>

namespace rclrt::executor {

Callback::Callback(CallbackOptions options)
    : options_(std::move(options)), credits_(this, options_.credits) {}

Counters Callback::counters() const noexcept RCLRT_NONBLOCKING {
  // The order of the loads keeps a snapshot taken while running from showing a negative pending.
  const auto completed = completed_.load(std::memory_order_acquire);
  const auto dropped = dropped_.load(std::memory_order_acquire);
  return {released_.load(std::memory_order_relaxed), completed, dropped};
}

Instance* Callback::make_instance(std::int64_t release_ns,
                                  std::int64_t ready_ns) noexcept RCLRT_NONBLOCKING {
  released_.fetch_add(1, std::memory_order_relaxed);
  Instance* instance = credits_.take();
  if (instance == nullptr) {
    dropped_.fetch_add(1, std::memory_order_release);
    return nullptr;
  }
  instance->release_ns = release_ns;
  instance->ready_ns = ready_ns;
  return instance;
}

void Callback::discard(Instance* instance) noexcept RCLRT_NONBLOCKING {
  credits_.give_back(instance);
  left_behind_.fetch_add(1);
  dropped_.fetch_add(1, std::memory_order_release);
}

}  // namespace rclrt::executor
