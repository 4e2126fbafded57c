// SPDX-License-Identifier: Apache-2.0
// All processes of rclcpp nodes of one host in one file: the configuration of each at launch, and
// one scale of priorities for all. Input is untrusted.
//
//   rclrt: 1
//   processes:
//     - name: sensors                  # and the sections of a robot.yaml, see robot.hpp
//       callbacks: [{node: /lidar, timer: 0, priority: 8}]
//     - name: control
//       executor: {cpus: [1]}
//       callbacks: [{node: /controller, priority: 5}]
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/export.hpp"
#include "rclrt/model/robot.hpp"

namespace rclrt::model {

/// One process and its configuration.
struct HostProcess {
  std::string name;
  Robot robot{};
  bool operator==(const HostProcess&) const = default;
};

/// A whole file. Priorities of callbacks hold for the host: a higher one in one process precedes a
/// lower one in another. For that the executors keep levels for all of them (`levels`), below one
/// `top_priority`.
struct RCLRT_MODEL_EXPORT Host {
  std::vector<HostProcess> processes;  ///< with names that differ

  /// Returns the priorities of callbacks that have kernel priorities, the most urgent first: those
  /// of all processes with real-time executors with levels, and 0 for callbacks that state none.
  /// Empty if there is no such process.
  std::vector<int> levels() const;

  /// Returns the process of this name, or nullptr if there is none.
  const HostProcess* find(std::string_view name) const;

  bool operator==(const Host&) const = default;
};

/// Returns whether each priority of the executor's callbacks has a kernel priority of its own.
RCLRT_MODEL_EXPORT bool has_kernel_levels(const RobotExecutor& executor);

/// Either the host, or at least one diagnostic in the order of the lines.
struct HostResult {
  std::optional<Host> host;
  std::vector<yaml::Diagnostic> diagnostics;
};

/// Reads a host from a text. Refuses the same as `parse_robot` does, and also executors with levels
/// that have different values of top_priority, and more levels than there are priorities below it.
/// Never throws on bad input (only std::bad_alloc). Thread-safe.
RCLRT_MODEL_EXPORT HostResult parse_host(std::string_view text);

/// Reads a host from a file. Throws yaml::FileError with every mistake and its position.
/// Thread-safe.
RCLRT_MODEL_EXPORT Host load_host(const std::filesystem::path& file);

}  // namespace rclrt::model
