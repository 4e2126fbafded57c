// SPDX-License-Identifier: Apache-2.0
// The result as a JSON document.
#pragma once

#include <string>

#include "measurement.hpp"
#include "settings.hpp"

namespace rclrt::latency {

/// Returns the document; times are in microseconds.
std::string to_json(const Settings& settings, const Result& result);

}  // namespace rclrt::latency
