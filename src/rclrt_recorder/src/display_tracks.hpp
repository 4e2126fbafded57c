// SPDX-License-Identifier: Apache-2.0
// The tracks on which the instances of a run are displayed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Numbers the display tracks and sets them in the records. Returns their names, by executor, then
/// by priority (the highest first, if the threads of the run's executor have one), then by worker.
std::vector<std::string> name_tracks(const RunResults& results,
                                     std::span<LoggedInstance> instances);

}  // namespace rclrt::recorder
