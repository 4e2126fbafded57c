// SPDX-License-Identifier: Apache-2.0
// The fixed stock of queued instances of one callback.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "rclrt/executor/detail/instance.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor::detail {

/// A lock-free pool of preallocated instances. It has as many as may wait for one callback (a
/// subscription's QoS depth). Thread-safe. A thread that is preempted within `take` or `give_back`
/// does not keep other threads from finishing theirs.
///
/// Each bit of a word represents one instance; the bit is set while the instance is in the pool.
/// The thread that clears a bit owns the instance until it sets the bit again. Clearing acquires
/// and setting releases, so the next owner sees everything that the last one wrote.
class RCLRT_EXECUTOR_EXPORT Credits {
 public:
  /// Throws std::invalid_argument when `count` is 0, std::bad_alloc.
  RCLRT_SETUP Credits(Callback* owner, std::size_t count);

  /// Returns an instance; nullptr when all are out.
  Instance* take() noexcept RCLRT_NONBLOCKING;
  /// Puts back what `take` returned, once.
  void give_back(Instance* instance) noexcept RCLRT_NONBLOCKING;
  /// Returns whether `take` would find nothing: a snapshot, unless no other thread gives back.
  bool all_out() const noexcept RCLRT_NONBLOCKING;
  std::size_t count() const noexcept RCLRT_NONBLOCKING { return count_; }

 private:
  static constexpr std::size_t kBits = 64;

  std::atomic<std::uint64_t>& word(std::size_t index) const noexcept RCLRT_NONBLOCKING {
    return index == 0 ? first_ : more_[index - 1];
  }

  mutable std::atomic<std::uint64_t> first_{0};  // not const in a const pool: see `word`
  const std::unique_ptr<Instance[]> instances_;
  const std::size_t count_;
  const std::unique_ptr<std::atomic<std::uint64_t>[]> more_;  // nullptr up to 64 instances
};

}  // namespace rclrt::executor::detail
