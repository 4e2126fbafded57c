// SPDX-License-Identifier: Apache-2.0
// Which executors may run on the same CPU.
#pragma once

#include <algorithm>

#include "rclrt/model/application.hpp"

namespace rclrt::model::detail {

/// Returns whether some CPU may run threads of both executors.
inline bool may_share_a_cpu(const Executor& a, const Executor& b) {
  return a.host == b.host && (a.cpus.empty() || b.cpus.empty() ||
                              std::ranges::find_first_of(a.cpus, b.cpus) != a.cpus.end());
}

}  // namespace rclrt::model::detail
