// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rclrt/analysis/time_distribution.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

/// Uniform from this share of the callback's WCET up to the WCET.
TimeDistribution execution_times(const model::Callback& callback, double lowest_execution);

}  // namespace rclrt::analysis::detail
