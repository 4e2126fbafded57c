// SPDX-License-Identifier: Apache-2.0
// The verdict of an analysis on a deadline.
#pragma once

#include <string_view>

namespace rclrt::analysis {

/// How far a deadline is proved.
enum class Verdict {
  kProved,       ///< the deadline holds, under the assumptions that every bound needs
  kConditional,  ///< it holds if the assumptions listed with it do
  kRefuted,      ///< it does not hold
  kUnknown,      ///< nothing was proved
};

/// Returns whether the deadline is proved, or is if the listed assumptions hold.
constexpr bool holds(Verdict verdict) {
  return verdict == Verdict::kProved || verdict == Verdict::kConditional;
}

/// Returns "proved", "conditional", "refuted" or "unknown".
constexpr std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kProved:
      return "proved";
    case Verdict::kConditional:
      return "conditional";
    case Verdict::kRefuted:
      return "refuted";
    case Verdict::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace rclrt::analysis
