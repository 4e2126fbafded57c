// SPDX-License-Identifier: Apache-2.0
// Writes the sample results as the runner writes a run, for trace_export_test.py.
// Usage: run_sample DIRECTORY
#include <exception>
#include <filesystem>
#include <iostream>
#include <vector>

#include "../src/results_directory.hpp"
#include "../src/results_writer.hpp"
#include "../src/trace_export.hpp"
#include "sample_results.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: run_sample DIRECTORY\n";
    return 2;
  }
  try {
    using namespace rclrt;  // NOLINT(google-build-using-namespace)
    runner::RunResults results = runner::sample_results();
    // A second instance on a track that is busy: it overlaps the first 12 ms of plan partly.
    runner::InstanceRecord overlapping = results.records[5];
    overlapping.id = 100;
    overlapping.start_ns = runner::sample_time(15'000);
    overlapping.end_ns = runner::sample_time(25'000);
    overlapping.tokens = {};
    results.records.push_back(overlapping);
    // A third instance of planning overtakes the second.
    const runner::ChainToken third{
        .chain = runner::kPlanning, .instance = 2, .release_ns = runner::sample_time(80'000)};
    results.records.push_back(runner::ran(runner::kPlan, runner::sample_time(94'000),
                                          runner::sample_time(95'000), {third}));
    results.records.back().thread_track = 1;
    const std::vector<runner::ChainRelease> obstacle{{0, runner::sample_time(0)},
                                                     {1, runner::sample_time(50'000)}};
    std::vector<runner::ChainRelease> planning = obstacle;
    planning.push_back({third.instance, third.release_ns});
    results.chains =
        runner::account_chains(results.application, results.window, std::vector{obstacle, planning},
                               results.records, results.host_stalls.attributable());

    results.callbacks =
        runner::account_callbacks(results.application.callbacks.size(), results.records);

    runner::ResultsDirectory directory(argv[1]);
    runner::write_results(directory.staging(), results);
    realtime::PerfettoWriter writer(
        directory.staging() / runner::kTraceFile,
        {.name = "vehicle: wait set", .pid = 300, .sequence_id = 5, .uuid_base = 1ULL << 32U},
        {.monotonic_ns = runner::kSampleStart, .boottime_ns = runner::kSampleStart});
    runner::export_trace(writer, results);
    writer.finish();
    directory.commit();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
