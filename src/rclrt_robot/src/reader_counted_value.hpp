// SPDX-License-Identifier: Apache-2.0
// A value that real-time threads read and another thread replaces now and then.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "rclrt/realtime/quiescence_guard.hpp"

namespace rclrt_robot {

/// A value that any number of threads read, wait-free, and one thread replaces. The old value is
/// freed at a later replacement, when no thread is reading.
///
/// Invariant: a reader enters the guard before it loads the pointer. The writer stores the pointer
/// before it asks whether the guard is empty. So if the guard is empty, later readers load the new
/// pointer, no reader has an older one, and all reads of older values happen before these are
/// freed.
template <typename T>
class ReaderCountedValue {
 public:
  ReaderCountedValue() : current_(std::make_unique<const T>()), shared_(current_.get()) {}

  /// Keeps the value that is current at the beginning of its scope readable until the end.
  class Reading {
   public:
    explicit Reading(const ReaderCountedValue& source) noexcept RCLRT_NONBLOCKING
        : source_(source) {
      source_.readers_.enter();
      // PAIRS WITH: replace()
      value_ = source_.shared_.load(std::memory_order_acquire);
    }
    ~Reading() RCLRT_NONBLOCKING { source_.readers_.leave(); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    const T& operator*() const noexcept RCLRT_NONBLOCKING { return *value_; }

   private:
    const ReaderCountedValue& source_;
    const T* value_ = nullptr;
  };

  /// Returns the current value. Only for the writer.
  const T& current() const noexcept { return *current_; }

  /// Replaces the value. Only for the writer.
  void replace(T value) {
    replaced_.reserve(replaced_.size() + 1);
    auto next = std::make_unique<const T>(std::move(value));
    shared_.store(next.get(), std::memory_order_release);  // PAIRS WITH: Reading()
    replaced_.push_back(std::exchange(current_, std::move(next)));
    if (readers_.is_empty()) {
      replaced_.clear();
    }
  }

 private:
  std::unique_ptr<const T> current_;
  std::vector<std::unique_ptr<const T>> replaced_;  // may still be read
  std::atomic<const T*> shared_;
  mutable rclrt::realtime::QuiescenceGuard readers_;  // only counts
};

}  // namespace rclrt_robot
