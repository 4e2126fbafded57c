// SPDX-License-Identifier: Apache-2.0
// The command line of the four programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rttest_options.hpp"

namespace rclrt::timer_study {

/// When the main thread gets its real-time policy: threads that it starts later inherit it.
enum class PolicySet { kBeforeInit, kBeforeNode, kBeforeLoop };

/// Returns "init", "node" or "loop".
const char* to_string(PolicySet moment);

/// The options of a program.
struct StudyOptions {
  PolicySet policy_set = PolicySet::kBeforeLoop;
  std::optional<std::string> hist_filename{};
  std::optional<std::string> topn_filename{};
  std::optional<std::string> timeseries_filename{};
  std::optional<std::string> summary_filename{};
  int nodes = 1;
  RttestOptions rttest{};
  std::vector<std::string> ros_arguments{};  ///< from --ros-args on
  std::optional<std::string> answer{};       ///< what --help or --version prints, instead of a run
};

/// Reads the command line of a study program, without the program's name. `program` and `purpose`
/// appear in its help. Throws text::UsageError if the command line is wrong.
StudyOptions parse_study_options(const std::string& program, const std::string& purpose,
                                 const std::vector<std::string>& arguments);

}  // namespace rclrt::timer_study
