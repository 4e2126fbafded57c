// SPDX-License-Identifier: Apache-2.0
// What the results of a run and of a simulation are made of in the same way.
#pragma once

#include <cstddef>
#include <rclrt/model/application.hpp>
#include <string>
#include <vector>

#include "chain_accounting.hpp"
#include "instance_record.hpp"
#include "results.hpp"

namespace rclrt::runner {

/// What a report calls the executor.
std::string label_of(const std::string& executor);

/// For each chain every release of the window, those that never ran too.
std::vector<std::vector<ChainRelease>> releases_of(const model::Application& application,
                                                   const RunWindow& window,
                                                   const std::vector<InstanceRecord>& records);

/// Numbers the display tracks by executor, most urgent level (if there are `levels`), worker; sets
/// them in the records. Returns their names.
std::vector<std::string> name_tracks(const model::Application& application, bool levels,
                                     std::vector<LoggedInstance>& instances);

/// Explains the worst misses of each chain. `cpus`: of an executor that states none.
void settle_misses(RunResults& results, std::size_t cpus);

}  // namespace rclrt::runner
