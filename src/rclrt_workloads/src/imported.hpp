// SPDX-License-Identifier: Apache-2.0
// Workloads of a user, which `rclrt workloads import` made from programs in C.
#pragma once

#include <memory>
#include <string>

#include "rclrt/workloads/workload.hpp"

namespace rclrt::workloads::detail {

/// Loads the file NAME.so of the first directory of RCLRT_WORKLOAD_PATH (separated by colons) that
/// has one. Each kernel has its own copy of the program's global variables. Returns nullptr if
/// there is none, or if the name is not a plain one. Throws std::runtime_error for a file that
/// cannot be used.
std::unique_ptr<Kernel> make_imported(const std::string& name);

}  // namespace rclrt::workloads::detail
