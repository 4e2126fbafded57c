// SPDX-License-Identifier: Apache-2.0
// The result as JSON.
#pragma once

#include <string>

#include "command_line.hpp"
#include "measurement.hpp"

namespace rclrt::bench {

/// What holds for all rows.
struct Conditions {
  bool realtime = false;
  std::string realtime_reason;      ///< why not
  std::string system_calls_reason;  ///< why they were not counted
  double load_before = 0;           ///< of the last minute before the first round: what runs beside
  int rounds = 0;
  double seconds = 0;
  double steal_ms = 0;
};

/// One document: the conditions and the rows. Not measured is null.
std::string to_json(const CommandLine& line, const Conditions& conditions, const Rows& rows);

}  // namespace rclrt::bench
