// SPDX-License-Identifier: Apache-2.0
// What the results of a run and of a simulation are made of in the same way.
#pragma once

#include <cstddef>
#include <rclrt/model/application.hpp>
#include <string>
#include <vector>

#include "rclrt/recorder/chain_accounting.hpp"
#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Fills in what follows from the instances and from the application, executor, window and stalls
/// that `results` has: records, display tracks, chains, callbacks. Tracks are in the order of
/// executor, most urgent level (where the kind of executor has levels), worker.
RCLRT_RECORDER_EXPORT void account(RunResults& results, std::vector<LoggedInstance> instances);

/// Explains the worst misses of each chain; needs the OS priorities, too. `cpus`: of an executor
/// that states none.
RCLRT_RECORDER_EXPORT void settle_misses(RunResults& results, std::size_t cpus);

}  // namespace rclrt::recorder
