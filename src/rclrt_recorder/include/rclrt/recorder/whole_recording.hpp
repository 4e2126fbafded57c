// SPDX-License-Identifier: Apache-2.0
// Everything that a short recording has seen.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/host_stall.hpp"
#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

/// Keeps all instances and all stalls of a recording, as long as there is room for all of them. As
/// soon as there is none, it lets go of everything, and keeps nothing from then on. Not
/// thread-safe.
class RCLRT_RECORDER_EXPORT WholeRecording {
 public:
  /// The most stalls, about 2 MB: a disturbed machine has hundreds of them in a second.
  static constexpr std::size_t kMostStalls = 65'536;

  /// Keeps at most this number of instances.
  explicit WholeRecording(std::size_t most_instances) : most_instances_(most_instances) {}

  /// Returns whether it has everything that was added.
  bool is_whole() const { return is_whole_; }

  /// Keeps what is added, or lets go of everything if that is too much, or if the system has no
  /// memory left.
  void add(std::span<const LoggedInstance> instances) noexcept;
  /// Keeps stalls in the same way, at most kMostStalls.
  void add_stalls(std::span<const HostStall> stalls) noexcept;

  /// Lets go of everything.
  void clear() noexcept;

  /// Returns the instances in the order in which they were added, and lets go of them.
  std::vector<LoggedInstance> take_instances();
  /// Returns the stalls, ascending by start, and lets go of them.
  std::vector<HostStall> take_stalls();

 private:
  const std::size_t most_instances_;
  bool is_whole_ = true;
  std::vector<LoggedInstance> instances_;
  std::vector<HostStall> stalls_;
};

}  // namespace rclrt::recorder
