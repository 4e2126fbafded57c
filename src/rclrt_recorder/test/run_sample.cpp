// SPDX-License-Identifier: Apache-2.0
// Writes the sample results as a run is written, for trace_export_test.py.
// Usage: run_sample DIRECTORY
#include <exception>
#include <filesystem>
#include <iostream>
#include <vector>

#include "rclrt/recorder/results_directory.hpp"
#include "rclrt/recorder/results_writer.hpp"
#include "rclrt/recorder/trace_export.hpp"
#include "sample_results.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: run_sample DIRECTORY\n";
    return 2;
  }
  try {
    using namespace rclrt;  // NOLINT(google-build-using-namespace)
    recorder::RunResults results = recorder::sample_results();
    // A second instance on a busy track: it overlaps the first 12 ms of plan.
    recorder::InstanceRecord overlapping = results.records[5];
    overlapping.id = 100;
    overlapping.start_ns = recorder::sample_time(15'000);
    overlapping.end_ns = recorder::sample_time(25'000);
    overlapping.tokens = {};
    results.records.push_back(overlapping);
    // A third instance of planning overtakes the second.
    const recorder::ChainToken third{
        .chain = recorder::kPlanning, .instance = 2, .release_ns = recorder::sample_time(80'000)};
    results.records.push_back(recorder::ran(recorder::kPlan, recorder::sample_time(94'000),
                                            recorder::sample_time(95'000), {third}));
    results.records.back().thread_track = 1;
    const std::vector<recorder::ChainRelease> obstacle{{0, recorder::sample_time(0)},
                                                       {1, recorder::sample_time(50'000)}};
    std::vector<recorder::ChainRelease> planning = obstacle;
    planning.push_back({third.instance, third.release_ns});
    results.chains = recorder::account_chains(results.application, results.window,
                                              std::vector{obstacle, planning}, results.records,
                                              results.host_stalls.attributable());

    results.callbacks =
        recorder::account_callbacks(results.application.callbacks.size(), results.records);

    recorder::ResultsDirectory directory(argv[1]);
    recorder::write_results(directory.staging(), results);
    realtime::PerfettoWriter writer(
        directory.staging() / recorder::kTraceFile,
        {.name = "vehicle: wait set", .pid = 300, .sequence_id = 5, .uuid_base = 1ULL << 32U},
        {.monotonic_ns = recorder::kSampleStart, .boottime_ns = recorder::kSampleStart});
    recorder::export_trace(writer, results);
    writer.finish();
    directory.commit();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
