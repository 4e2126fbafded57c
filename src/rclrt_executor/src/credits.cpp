// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/detail/credits.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace rclrt::executor::detail {

Credits::Credits(Callback* owner, std::size_t count)
    : instances_(std::make_unique<Instance[]>(count)),
      count_(count),
      more_(count <= kBits ? nullptr
                           : std::make_unique<std::atomic<std::uint64_t>[]>((count - 1) / kBits)) {
  if (count == 0) {
    throw std::invalid_argument("a callback needs at least one credit (queue depth)");
  }
  for (std::size_t i = 0; i < count; ++i) {
    instances_[i].callback = owner;
  }
  for (std::size_t first = 0; first < count; first += kBits) {
    const std::size_t bits = std::min(kBits, count - first);
    // relaxed: no other thread has the object yet
    word(first / kBits).store(~std::uint64_t{0} >> (kBits - bits), std::memory_order_relaxed);
  }
}

[[gnu::hot]] Instance* Credits::take() noexcept RCLRT_NONBLOCKING {
  for (std::size_t first = 0; first < count_; first += kBits) {
    auto& free = word(first / kBits);
    std::uint64_t bits = free.load(std::memory_order_relaxed);  // only a prediction
    while (bits != 0) {
      // bits & (bits - 1) clears the lowest set bit. PAIRS WITH: give_back()
      if (free.compare_exchange_weak(bits, bits & (bits - 1), std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
        return &instances_[first + static_cast<std::size_t>(std::countr_zero(bits))];
      }
    }
  }
  return nullptr;
}

bool Credits::all_out() const noexcept RCLRT_NONBLOCKING {
  for (std::size_t first = 0; first < count_; first += kBits) {
    // relaxed: a snapshot that orders nothing
    if (word(first / kBits).load(std::memory_order_relaxed) != 0) {
      return false;
    }
  }
  return true;
}

[[gnu::hot]] void Credits::give_back(Instance* instance) noexcept RCLRT_NONBLOCKING {
  const auto index = static_cast<std::size_t>(instance - instances_.get());
  // PAIRS WITH: take()
  word(index / kBits).fetch_or(std::uint64_t{1} << (index % kBits), std::memory_order_release);
}

}  // namespace rclrt::executor::detail
