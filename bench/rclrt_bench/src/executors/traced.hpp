// SPDX-License-Identifier: Apache-2.0
// Counts the system calls of a child of this process, with ptrace: no privilege, no other program.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace rclrt::bench {

/// Runs `body` in a child process under a tracer. There, `read_costs` also returns the system calls
/// of all threads so far. `body` writes to its argument, and these values appear in `results`. Call
/// it before any thread is started. Returns an empty text, or the reason if nothing could be
/// counted.
std::string run_traced(std::vector<double>& results,
                       const std::function<void(std::span<double> results)>& body);

}  // namespace rclrt::bench
