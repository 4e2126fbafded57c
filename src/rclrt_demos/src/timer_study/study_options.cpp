// SPDX-License-Identifier: Apache-2.0
#include "study_options.hpp"

#include <algorithm>
#include <functional>

namespace rclrt::timer_study {

namespace {

/// The rows of a series are kept in memory until the end.
constexpr std::uint64_t kMostRows = 100'000'000;

/// The moment of the policy, as the options state it.
struct StatedMoment {
  bool before_init = false;
  bool before_loop = false;
  PolicySet moment = PolicySet::kBeforeLoop;
};

/// Returns the moment. Throws text::UsageError if options contradict each other.
PolicySet moment_of(const StatedMoment& stated, bool states_moment) {
  std::vector<PolicySet> moments;
  if (stated.before_init) {
    moments.push_back(PolicySet::kBeforeInit);
  }
  if (stated.before_loop) {
    moments.push_back(PolicySet::kBeforeLoop);
  }
  if (states_moment) {
    moments.push_back(stated.moment);
  }
  if (std::adjacent_find(moments.begin(), moments.end(), std::not_equal_to<>()) != moments.end()) {
    throw text::UsageError(
        "--use_realtime_child_thread, --unuse_realtime_child_thread and --set_policy_before "
        "contradict each other: expected one of them");
  }
  return moments.empty() ? PolicySet::kBeforeLoop : moments.front();
}

void check_together(const StudyOptions& options) {
  const bool keeps_rows = options.timeseries_filename || options.rttest.file;
  const std::string option = options.rttest.file ? "--rttest_args -f" : "--timeseries_filename";
  if (keeps_rows && options.rttest.iterations == 0) {
    throw text::UsageError(option +
                           ": keeps a row for each iteration in memory; expected "
                           "--rttest_args -i with a number above 0");
  }
  if (keeps_rows && options.rttest.iterations > kMostRows) {
    throw text::UsageError(option + ": keeps a row for each iteration in memory; expected " +
                           "--rttest_args -i of at most " + std::to_string(kMostRows));
  }
  std::vector<std::string> files;
  for (const auto& each :
       {options.hist_filename, options.topn_filename, options.timeseries_filename,
        options.summary_filename, options.rttest.file}) {
    if (each && std::find(files.begin(), files.end(), *each) != files.end()) {
      throw text::UsageError("file \"" + *each +
                             "\" is stated twice: expected a file for each kind of data");
    }
    files.push_back(each.value_or(""));
  }
}

text::OptionTable study_table(const std::string& program, const std::string& purpose,
                              StudyOptions& to, StatedMoment& stated) {
  RttestOptions standard;
  return {
      .program = program,
      .purpose = purpose,
      .options =
          {
              text::flag("--use_realtime_child_thread", stated.before_init,
                         "sets the policy before init: children inherit it"),
              text::flag("--unuse_realtime_child_thread", stated.before_loop,
                         "sets it before the loop: children do not (default)"),
              text::choice<PolicySet>("--set_policy_before", "WHEN", stated.moment,
                                      {{"init", PolicySet::kBeforeInit},
                                       {"node", PolicySet::kBeforeNode},
                                       {"loop", PolicySet::kBeforeLoop}},
                                      "sets it then"),
              text::number("--nodes", "N", to.nodes, {1, 9},
                           "of the process (init_thread has none)"),
              text::text("--hist_filename", "FILE", to.hist_filename,
                         "CSV latency,count: bins of 1 us, then the overflow"),
              text::text("--topn_filename", "FILE", to.topn_filename,
                         "CSV latency,index: the 10 largest, ns"),
              text::text("--timeseries_filename", "FILE", to.timeseries_filename,
                         "CSV idx,latency: all, ns"),
              text::text("--summary_filename", "FILE", to.summary_filename,
                         "JSON: threads, policies, latencies"),
          },
      .notes = "After them, --rttest_args and its options:\n\n" +
               text::option_lines(rttest_table(standard)) +
               "\nAfter these, --ros-args and ROS's arguments.\n"
               "exit codes: 0 it ran, 1 it could not, 2 bad input",
  };
}

}  // namespace

const char* to_string(PolicySet moment) {
  switch (moment) {
    case PolicySet::kBeforeInit:
      return "init";
    case PolicySet::kBeforeNode:
      return "node";
    case PolicySet::kBeforeLoop:
      break;
  }
  return "loop";
}

StudyOptions parse_study_options(const std::string& program, const std::string& purpose,
                                 const std::vector<std::string>& arguments) {
  StudyOptions result;
  StatedMoment stated;
  const auto ros = std::find(arguments.begin(), arguments.end(), "--ros-args");
  const auto rttest = std::find(arguments.begin(), ros, "--rttest_args");
  const auto parsed = text::parse_options(study_table(program, purpose, result, stated),
                                          {arguments.begin(), rttest});
  result.answer = parsed.answer;
  if (rttest != ros) {
    text::parse_options(rttest_table(result.rttest), {rttest + 1, ros});
  }
  result.ros_arguments.assign(ros, arguments.end());
  result.policy_set = moment_of(stated, parsed.given.contains("--set_policy_before"));
  check_together(result);
  return result;
}

}  // namespace rclrt::timer_study
