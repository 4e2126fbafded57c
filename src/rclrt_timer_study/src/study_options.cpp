// SPDX-License-Identifier: Apache-2.0
#include "study_options.hpp"

#include <algorithm>
#include <stdexcept>

namespace rclrt::timer_study {

namespace {

constexpr const char* kKnown =
    "--use_realtime_child_thread, --unuse_realtime_child_thread, --set_policy_before, "
    "--hist_filename, --topn_filename, --timeseries_filename, --summary_filename, --nodes, "
    "--rttest_args or --ros-args";

/// The rows of a series are kept in memory until the end.
constexpr std::uint64_t kMostRows = 100'000'000;

PolicySet parse_moment(const std::string& text) {
  for (const PolicySet each :
       {PolicySet::kBeforeInit, PolicySet::kBeforeNode, PolicySet::kBeforeLoop}) {
    if (text == to_string(each)) {
      return each;
    }
  }
  throw std::invalid_argument("--set_policy_before " + text + ": expected init, node or loop");
}

int parse_nodes(const std::string& text) {
  if (text.size() == 1 && text[0] >= '1' && text[0] <= '9') {
    return text[0] - '0';
  }
  throw std::invalid_argument("--nodes " + text + ": expected a number from 1 to 9");
}

/// Throws if two options that state the moment state different ones.
void state_moment(std::optional<PolicySet>& stated, PolicySet moment) {
  if (stated && *stated != moment) {
    throw std::invalid_argument(
        "--use_realtime_child_thread, --unuse_realtime_child_thread and --set_policy_before "
        "contradict each other: expected one of them");
  }
  stated = moment;
}

void check_together(const StudyOptions& options) {
  const bool keeps_rows = options.timeseries_filename || options.rttest.file;
  const std::string option = options.rttest.file ? "--rttest_args -f" : "--timeseries_filename";
  if (keeps_rows && options.rttest.iterations == 0) {
    throw std::invalid_argument(option +
                                ": keeps a row for each iteration in memory; expected "
                                "--rttest_args -i with a number above 0");
  }
  if (keeps_rows && options.rttest.iterations > kMostRows) {
    throw std::invalid_argument(option + ": keeps a row for each iteration in memory; expected " +
                                "--rttest_args -i of at most " + std::to_string(kMostRows));
  }
  std::vector<std::string> files;
  for (const auto& each :
       {options.hist_filename, options.topn_filename, options.timeseries_filename,
        options.summary_filename, options.rttest.file}) {
    if (each && std::find(files.begin(), files.end(), *each) != files.end()) {
      throw std::invalid_argument("file \"" + *each +
                                  "\" is stated twice: expected a file for each kind of data");
    }
    files.push_back(each.value_or(""));
  }
}

std::optional<std::string>* file_of(StudyOptions& options, const std::string& option) {
  if (option == "--hist_filename") {
    return &options.hist_filename;
  }
  if (option == "--topn_filename") {
    return &options.topn_filename;
  }
  if (option == "--timeseries_filename") {
    return &options.timeseries_filename;
  }
  return option == "--summary_filename" ? &options.summary_filename : nullptr;
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

StudyOptions parse_study_options(const std::vector<std::string>& arguments) {
  StudyOptions result;
  std::optional<PolicySet> moment;
  const auto ros = std::find(arguments.begin(), arguments.end(), "--ros-args");
  const auto rttest = std::find(arguments.begin(), ros, "--rttest_args");
  for (auto each = arguments.begin(); each != rttest; ++each) {
    const std::string& option = *each;
    const auto value = [&]() -> const std::string& {
      if (++each == rttest || each->empty()) {
        throw std::invalid_argument(option + ": expected a value");
      }
      return *each;
    };
    if (option == "--use_realtime_child_thread") {
      state_moment(moment, PolicySet::kBeforeInit);
    } else if (option == "--unuse_realtime_child_thread") {
      state_moment(moment, PolicySet::kBeforeLoop);
    } else if (option == "--set_policy_before") {
      state_moment(moment, parse_moment(value()));
    } else if (option == "--nodes") {
      result.nodes = parse_nodes(value());
    } else if (auto* const file = file_of(result, option)) {
      *file = value();
    } else if (option == "--help" || option == "-h") {
      result.help = true;
    } else {
      throw std::invalid_argument("unknown option \"" + option + "\"; expected " + kKnown);
    }
  }
  if (rttest != ros) {
    result.rttest = parse_rttest_options({rttest + 1, ros});
  }
  result.ros_arguments.assign(ros, arguments.end());
  result.policy_set = moment.value_or(PolicySet::kBeforeLoop);
  check_together(result);
  return result;
}

std::string usage(const std::string& program, const std::string& purpose) {
  return "usage: " + program + " [OPTIONS] [--rttest_args ...] [--ros-args ...]\n" + purpose +
         "\n\n"
         "  --use_realtime_child_thread    set the policy before init: children inherit it\n"
         "  --unuse_realtime_child_thread  set it before the loop: children do not (default)\n"
         "  --set_policy_before WHEN       init, node or loop\n"
         "  --nodes N                      1 to 9; default 1 (init_thread has none)\n"
         "  --hist_filename FILE           CSV latency,count: bins of 1 us, then the overflow\n"
         "  --topn_filename FILE           CSV latency,index: the 10 largest, ns\n"
         "  --timeseries_filename FILE     CSV idx,latency: all, ns\n"
         "  --summary_filename FILE        JSON: threads, policies, latencies\n"
         "  --rttest_args                  the last ones but ROS's:\n"
         "    -i N       iterations; 0: until stopped; default 1000\n"
         "    -u PERIOD  with ns, us, ms or s; without one us; default 1ms\n"
         "    -t N       priority, 1 to 99; default 80\n"
         "    -s POLICY  rr or fifo; default rr\n"
         "    -m SIZE    of the stack to touch; b, kb, mb, gb; without one mb; default 1mb\n"
         "    -d SIZE    of the heap to touch; default 64mb\n"
         "    -f FILE    a row for each iteration, with page faults\n"
         "exit codes: 0 it ran, 1 it could not, 2 bad input\n";
}

}  // namespace rclrt::timer_study
