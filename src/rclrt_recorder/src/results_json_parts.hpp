// SPDX-License-Identifier: Apache-2.0
// Parts of results.json: times, hops and hosts.
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

using Json = nlohmann::ordered_json;

/// Returns milliseconds with the digits of whole nanoseconds.
inline double to_ms(double time_ns) { return std::round(time_ns) / 1e6; }
inline double to_ms(std::int64_t time_ns) { return static_cast<double>(time_ns) / 1e6; }
inline double to_ms(std::chrono::nanoseconds time) { return to_ms(time.count()); }

/// Returns the times of a distribution; null: there are none.
Json times_json(const std::optional<Summary>& summary);

/// Returns the messages from one callback to another.
Json hop_json(const RunResults& results, const HopResult& hop);

/// Returns a host: the clock with which its clock was compared, and how exactly its times are
/// known.
Json host_json(const RunResults& results, std::size_t index);

}  // namespace rclrt::recorder
