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

/// The content of a host file: all processes of one computer. A callback with a higher priority
/// precedes one with a lower priority in any process. For this, all executors reserve a kernel
/// priority for each of levels(), below one common `top_priority`.
struct RCLRT_MODEL_EXPORT Host {
  std::vector<HostProcess> processes;  ///< with names that differ

  /// Returns the distinct priorities of callbacks, the most urgent first, in all processes with an
  /// executor that maps priorities to kernel priorities (has_kernel_levels()). Callbacks without a
  /// stated priority have 0. Empty if there is no such process.
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

/// Reads a host file from its text. Refuses what `parse_robot` refuses in each process. Also
/// refuses different values of top_priority in executors with kernel levels, and more levels than
/// there are priorities below top_priority. Never throws on bad input (only std::bad_alloc).
/// Thread-safe.
RCLRT_MODEL_EXPORT HostResult parse_host(std::string_view text);

/// Reads a host file. Throws yaml::FileError with every mistake and its position. Thread-safe.
RCLRT_MODEL_EXPORT Host load_host(const std::filesystem::path& file);

}  // namespace rclrt::model
