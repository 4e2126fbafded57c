// SPDX-License-Identifier: Apache-2.0
// The files of a program: the study's CSV files, rttest's file, a summary.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "latency_record.hpp"
#include "study_options.hpp"
#include "thread_list.hpp"

namespace rclrt::timer_study {

/// All results of a run besides its latencies.
struct RunDescription {
  std::string program;
  std::string rmw;
  StudyOptions options;
  std::string realtime_problem;    ///< empty if the loop has its policy; otherwise cause and fix
  std::vector<std::string> steps;  ///< "init", "node 1", ...
  std::vector<std::size_t> step_threads;  ///< number of threads that each step started
  std::vector<ThreadState> threads;       ///< while the loop runs
  bool measures_callbacks = false;
  std::uint64_t missed_passes = 0;  ///< passes of the loop that found no timer ready
};

/// Writes `latency,count`: 1000 bins of 1 us, and a last row `overflow` for all above.
void write_hist(std::FILE* stream, const LatencyRecord& record);
/// Writes `latency,index`, the largest first, in nanoseconds.
void write_topn(std::FILE* stream, const LatencyRecord& record);
/// Writes `idx,latency`, in nanoseconds.
void write_timeseries(std::FILE* stream, const LatencyRecord& record);
/// Writes rttest's columns, with blanks between.
void write_rttest(std::FILE* stream, const LatencyRecord& record);
/// Writes a JSON object.
void write_summary(std::FILE* stream, const RunDescription& run, const LatencyRecord& record);
/// Prints the statistics for people.
void print_statistics(std::FILE* stream, const RunDescription& run, const LatencyRecord& record);

}  // namespace rclrt::timer_study
