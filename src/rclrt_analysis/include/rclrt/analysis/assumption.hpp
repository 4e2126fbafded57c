// SPDX-License-Identifier: Apache-2.0
// The assumptions of a bound.
#pragma once

#include <string>

namespace rclrt::analysis {

/// Something that bounds rest on, and that no file can show.
struct Assumption {
  std::string id;        ///< such as "wcet"; it does not change when the text does
  std::string text;      ///< one statement, without a full stop
  bool relevant = true;  ///< the application has what the assumption is about
  bool operator==(const Assumption&) const = default;
};

}  // namespace rclrt::analysis
