// SPDX-License-Identifier: Apache-2.0
// The kernel's limit on real-time threads, in the words of a judgement.
#pragma once

#include <string>

#include "rclrt/analysis/machine.hpp"

namespace rclrt::analysis::detail {

/// Returns what every bound assumes if the kernel of the machine limits real-time threads.
std::string realtime_assumption(const Machine& machine);

}  // namespace rclrt::analysis::detail
