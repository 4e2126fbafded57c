// SPDX-License-Identifier: Apache-2.0
// The properties of a machine, in the words of a judgement.
#pragma once

#include "rclrt/analysis/machine.hpp"

namespace rclrt::analysis::detail {

/// The condition of each bound if the machine's dispatch time is not known. It is none if the user
/// states that dispatching takes no time.
inline constexpr const char* kNoDispatchTime =
    "dispatching takes no time (rclrt calibrate measures it; then --overheads FILE)";
inline constexpr const char* kNoHandoverTime =
    "a thread that is to run on another CPU starts there at once (handover_us of the overheads' "
    "file)";

/// Returns what every bound assumes if the kernel of the machine limits real-time threads.
Assumption realtime_assumption(const Machine& machine);

}  // namespace rclrt::analysis::detail
