// SPDX-License-Identifier: Apache-2.0
// Work with a known result, for callbacks that should behave like real ones.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "rclrt/workloads/export.hpp"

namespace rclrt::workloads {

/// A workload with data of its own. Not thread-safe: one caller at a time.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// Runs one iteration of the workload. Returns a value computed from its results, which is the
  /// same each time. Allocates nothing and takes no lock.
  virtual std::uint64_t run() noexcept = 0;
};

/// A workload that a callback can name.
struct Workload {
  std::string_view name;
  std::string_view character;  ///< what it does, and what limits it
  std::uint64_t result{};      ///< of each iteration
  /// Allocates the data and prepares them.
  std::unique_ptr<Kernel> (*make)() = nullptr;
};

/// Returns the workloads that are built in, by name. Thread-safe.
RCLRT_WORKLOADS_EXPORT std::span<const Workload> workloads() noexcept;

/// Makes the workload of this name: a built-in one, otherwise an imported one (see imported.hpp).
/// Throws std::invalid_argument with a list of the available ones if there is none. Thread-safe.
RCLRT_WORKLOADS_EXPORT std::unique_ptr<Kernel> make(const std::string& name);

}  // namespace rclrt::workloads
