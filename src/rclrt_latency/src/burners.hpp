// SPDX-License-Identifier: Apache-2.0
// Load on every CPU, as `stress-ng --cpu` makes it.
#pragma once

#include <sys/types.h>

#include <span>
#include <vector>

namespace rclrt::latency {

/// Keeps CPUs busy: a process for each CPU computes and walks through memory, at normal priority.
/// The processes end when this object is destroyed, and when the process that made them ends in any
/// way.
class Burners {
 public:
  Burners() = default;

  /// Starts a process on each of `cpus`. Call it while the calling process has only one thread.
  /// Throws std::system_error.
  explicit Burners(std::span<const int> cpus);
  ~Burners();
  Burners(Burners&& other) noexcept;
  Burners& operator=(Burners&& other) noexcept;

  const std::vector<pid_t>& processes() const { return processes_; }

 private:
  void stop() noexcept;

  std::vector<pid_t> processes_;
};

}  // namespace rclrt::latency
