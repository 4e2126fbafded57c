// SPDX-License-Identifier: Apache-2.0
// Instances on their way to the thread that counts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

/// Holds the instances of a log's thread until another thread counts them, in bounded memory. If
/// instances come faster than they are counted, or there is no memory left, it drops and counts
/// them. Thread-safe, for threads at normal priority: no thread of an executor takes its lock.
class RCLRT_RECORDER_EXPORT InstanceInbox {
 public:
  /// Some 130 MB, which are only used if the thread that counts gets no CPU for seconds.
  static constexpr std::size_t kMost = 262'144;

  /// Makes an inbox that holds at most this number of instances.
  explicit InstanceInbox(std::size_t most = kMost) : most_(most) {}

  /// Takes instances over. Drops those for which there is no room, or all if there is no memory.
  void add(std::span<const LoggedInstance> instances) noexcept;

  /// Permits take(): the thread that counts has what it needs.
  void open();

  /// Returns whether take() is permitted.
  bool is_open() const;

  /// Exchanges `batch`, which becomes empty first, with everything that has come since the last
  /// call. Returns false, with an empty batch, before open().
  bool take(std::vector<LoggedInstance>& batch);

  /// Counts instances as dropped that were taken, but not counted elsewhere.
  void drop(std::uint64_t count) noexcept;

  /// Drops what it holds and whatever comes, and returns its memory to the system.
  void close() noexcept;

  /// Returns the number of dropped instances.
  std::uint64_t dropped() const;

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;  // guards all of the following
  std::vector<LoggedInstance> instances_;
  std::uint64_t dropped_ = 0;
  bool is_open_ = false;
  bool is_closed_ = false;
};

}  // namespace rclrt::recorder
