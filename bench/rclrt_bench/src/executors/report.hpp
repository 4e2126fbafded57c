// SPDX-License-Identifier: Apache-2.0
// The result as JSON.
#pragma once

#include <string>

#include "command_line.hpp"
#include "measurement.hpp"

namespace rclrt::bench {

/// The conditions of all rows.
struct Conditions {
  bool realtime = false;
  std::string realtime_reason;      ///< why there is none
  std::string system_calls_reason;  ///< why they were not counted
  double load_before = 0;  ///< of the last minute before the first round: other work on the machine
  int rounds = 0;
  double seconds = 0;
  double steal_ms = 0;
};

/// Returns one document with the conditions and the rows. Values that were not measured are null.
std::string to_json(const CommandLine& line, const Conditions& conditions, const Rows& rows);

}  // namespace rclrt::bench
