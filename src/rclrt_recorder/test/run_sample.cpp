// SPDX-License-Identifier: Apache-2.0
// Writes the sample results as a run is written, for trace_export_test.py.
// Usage: run_sample DIRECTORY [sampled]
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <rclrt/model/parse.hpp>
#include <vector>

#include "rclrt/recorder/results_directory.hpp"
#include "rclrt/recorder/results_writer.hpp"
#include "rclrt/recorder/trace_export.hpp"
#include "sample_results.hpp"

namespace rclrt::recorder {
namespace {

/// The sample results, with more instances of `plan`.
RunResults busy_results() {
  RunResults results = sample_results();
  // A second instance on a busy track: it overlaps the first 12 ms of plan.
  InstanceRecord overlapping = results.records[5];
  overlapping.id = 100;
  overlapping.start_ns = sample_time(15'000);
  overlapping.end_ns = sample_time(25'000);
  overlapping.tokens = {};
  results.records.push_back(overlapping);
  // A third instance of planning overtakes the second.
  const ChainToken third{.chain = kPlanning, .instance = 2, .release_ns = sample_time(80'000)};
  results.records.push_back(ran(kPlan, sample_time(94'000), sample_time(95'000), {third}));
  results.records.back().thread_track = 1;
  results.records.back().first_cpu = results.records.back().last_cpu = 0;
  const std::vector<ChainRelease> obstacle{{0, sample_time(0)}, {1, sample_time(50'000)}};
  std::vector<ChainRelease> planning = obstacle;
  planning.push_back({third.instance, third.release_ns});
  results.chains =
      account_chains(results.application, results.window, std::vector{obstacle, planning},
                     results.records, results.host_stalls.attributable());
  results.callbacks =
      account_callbacks(results.application.callbacks.size(), results.records, results.cpu_parts);
  return results;
}

/// A run of two cause-effect chains with the same first two segments: `sense` stores what `plan`
/// reads, and `plan` what `act` and `log` read.
RunResults sampled_results() {
  RunResults results = sample_results();
  results.application = model::parse_application(R"(
rclrt: 1
name: sampling
nodes: [{name: n}]
callbacks:
  - {id: sense, node: n, timer: {period_ms: 10}, wcet_ms: 1, stores: [seen]}
  - {id: plan, node: n, timer: {period_ms: 10}, wcet_ms: 1, reads: [seen], stores: [path]}
  - {id: act, node: n, timer: {period_ms: 10}, wcet_ms: 1, reads: [path]}
  - {id: log, node: n, timer: {period_ms: 50}, wcet_ms: 1, reads: [path]}
chains:
  - {id: loop, callbacks: [sense, plan, act], max_age_ms: 50}
  - {id: book, callbacks: [sense, plan, log], max_age_ms: 90}
)")
                            .application.value();
  results.host_stalls = {};
  results.records.clear();
  results.cpu_parts.clear();
  // Each callback is a chain of its own, with the same index.
  const auto add = [&](std::uint32_t callback, std::uint64_t instance, std::int64_t start_us) {
    const ChainToken token{.chain = callback,
                           .instance = instance,
                           .release_ns = sample_time(static_cast<std::int64_t>(instance) * 10'000)};
    results.records.push_back(
        ran(callback, sample_time(start_us), sample_time(start_us + 1000), {token}));
    results.records.back().id = results.records.size() - 1;
  };
  add(2, 0, 0);       // act finds no value
  add(0, 0, 1000);    // sense
  add(1, 0, 2000);    // plan reads sense 0
  add(2, 1, 10'000);  // act reads plan 0
  add(0, 1, 11'000);  // sense, which nothing reads
  add(0, 2, 20'000);  // sense
  add(2, 2, 21'000);  // act reads plan 0 again
  add(3, 0, 22'000);  // log reads plan 0
  add(1, 2, 23'000);  // plan reads sense 2
  const std::size_t count = results.application.callbacks.size();
  results.chains.assign(count, {});
  results.callback_counts.assign(count, {});
  results.kernel_priorities.assign(count, std::nullopt);
  results.callbacks = account_callbacks(count, results.records);
  results.cause_effect_chains =
      account_cause_effect_chains(results.application, results.window, {}, results.records);
  return results;
}

}  // namespace
}  // namespace rclrt::recorder

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: run_sample DIRECTORY [sampled]\n";
    return 2;
  }
  try {
    using namespace rclrt;  // NOLINT(google-build-using-namespace)
    const recorder::RunResults results =
        argc == 3 ? recorder::sampled_results() : recorder::busy_results();
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
