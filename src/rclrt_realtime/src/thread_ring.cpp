// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/thread_ring.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace rclrt::realtime::detail {

ThreadRing::ThreadRing(std::string_view thread_name, std::size_t capacity, std::size_t max_record,
                       std::shared_ptr<const Gate> ring_gate)
    : bytes(capacity, max_record), name(thread_name), gate(std::move(ring_gate)), tid(gettid()) {}

OwnedRing ThreadRings::add(std::string_view name, std::uint32_t id, std::size_t capacity,
                           std::size_t max_record) {
  auto ring = std::make_shared<ThreadRing>(name, capacity, max_record, gate_);
  ring->id = id;
  const std::lock_guard lock(mutex_);
  rings_.push_back(ring);
  return {ring.get(), EndOfRing{ring}};
}

const ThreadRings::List& ThreadRings::refresh() {
  {
    const std::lock_guard lock(mutex_);
    seen_ = rings_;
  }
  for (const auto& ring : seen_) {
    ring->last_pass = ring->ended.load(std::memory_order_acquire);  // PAIRS WITH: EndOfRing
    ring->bytes.refresh();
  }
  return seen_;
}

void ThreadRings::remove_ended() {
  const std::lock_guard lock(mutex_);
  std::erase_if(rings_, [](const auto& ring) { return ring->last_pass; });
  seen_.clear();
}

}  // namespace rclrt::realtime::detail
