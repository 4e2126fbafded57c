// SPDX-License-Identifier: Apache-2.0
// Workloads that a user brings along: what `rclrt workloads import` made of programs in C.
#pragma once

#include <memory>
#include <string>

#include "rclrt/workloads/workload.hpp"

namespace rclrt::workloads::detail {

/// Loads the file NAME.so of the first directory of RCLRT_WORKLOAD_PATH (separated by colons) that
/// has one. Each kernel has the program's global variables for itself. nullptr: there is none, or
/// the name is no plain one. Throws std::runtime_error for a file that cannot be used.
std::unique_ptr<Kernel> make_imported(const std::string& name);

}  // namespace rclrt::workloads::detail
