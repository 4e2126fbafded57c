// SPDX-License-Identifier: Apache-2.0
// Workloads of a user, which `rclrt workloads import` made from programs in C.
#pragma once

#include <memory>
#include <string>

#include "rclrt/workloads/workload.hpp"

namespace rclrt::workloads::detail {

/// Loads the imported workload NAME.so from the first directory of the environment variable
/// RCLRT_WORKLOAD_PATH (separated by colons) that has this file. Each kernel has its own copy of
/// the program's global variables. Returns nullptr if no directory has the file, or if `name` is
/// not a plain file name. Throws std::runtime_error if the file cannot be used.
std::unique_ptr<Kernel> make_imported(const std::string& name);

}  // namespace rclrt::workloads::detail
