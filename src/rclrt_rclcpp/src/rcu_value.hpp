// SPDX-License-Identifier: Apache-2.0
// A value that real-time threads read and another one replaces now and then (read-copy-update).
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "rclrt/realtime/safety.hpp"

namespace rclrt_rclcpp {

/// Any number of threads read, wait-free; one thread replaces. A replaced value is freed at a later
/// replacement, when no thread reads.
///
/// Invariant: a reader increments the count before it loads the pointer, and the writer reads the
/// count after it has exchanged the pointer, all seq_cst. So if the count is 0, later readers load
/// the new pointer, and no reader has an older one. The end of a read is a release, and the
/// writer's read of the count acquires it: all reads of a value happen before it is freed.
template <typename T>
class RcuValue {
 public:
  RcuValue() : current_(std::make_unique<const T>()), shared_(current_.get()) {}

  /// Keeps the value that is current at the beginning of its scope readable until the end.
  class Reading {
   public:
    explicit Reading(const RcuValue& source) noexcept RCLRT_NONBLOCKING : source_(source) {
      source_.readers_.fetch_add(1);
      value_ = source_.shared_.load();
    }
    ~Reading() RCLRT_NONBLOCKING { source_.readers_.fetch_sub(1, std::memory_order_release); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    const T& operator*() const noexcept RCLRT_NONBLOCKING { return *value_; }

   private:
    const RcuValue& source_;
    const T* value_ = nullptr;
  };

  /// Returns the current value. Only for the writer.
  const T& current() const noexcept { return *current_; }

  /// Replaces the value. Only for the writer.
  void replace(T value) {
    replaced_.reserve(replaced_.size() + 1);
    auto next = std::make_unique<const T>(std::move(value));
    shared_.store(next.get());
    replaced_.push_back(std::exchange(current_, std::move(next)));
    if (readers_.load() == 0) {
      replaced_.clear();
    }
  }

 private:
  std::unique_ptr<const T> current_;
  std::vector<std::unique_ptr<const T>> replaced_;  // may still be read
  std::atomic<const T*> shared_;
  mutable std::atomic<int> readers_{0};
};

}  // namespace rclrt_rclcpp
