// SPDX-License-Identifier: Apache-2.0
// Counts the system calls of a child of this process, with ptrace: no privilege, no other program.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace rclrt::bench {

/// Runs `body` in a child in which `read_costs` knows the system calls of all threads so far, and
/// gives it the memory behind `results` to write to. Call it before there are threads. Returns the
/// reason if nothing was counted, or an empty text.
std::string run_traced(std::vector<double>& results,
                       const std::function<void(std::span<double> results)>& body);

}  // namespace rclrt::bench
