// SPDX-License-Identifier: Apache-2.0
// Results of a short run of the sample application, made by hand.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "rclrt/recorder/results.hpp"
#include "sample_application.hpp"

namespace rclrt::recorder {

inline constexpr std::int64_t kSampleStart = 1'000'000'000'000;

inline std::int64_t sample_time(std::int64_t us) { return kSampleStart + us * 1000; }

/// Executor main has CPU 1, except for two instances that move: of number 8 every part is known, of
/// number 9 only where it began and ended. Nothing is known of number 1.
inline void add_sample_cpus(RunResults& results) {
  for (InstanceRecord& record : results.records) {
    record.first_cpu = record.last_cpu = record.thread_track == 0 ? 1 : 0;
  }
  results.records[1].first_cpu = results.records[1].last_cpu = kUnknownCpu;
  results.cpu_parts = {{1, sample_time(90'000), sample_time(91'000)},
                       {0, sample_time(91'000), sample_time(92'000)},
                       {1, sample_time(92'000), sample_time(93'250)}};
  results.records[8].part_count = 3;
  results.records[9].last_cpu = 0;
}

inline void add_sample_records(RunResults& results) {
  const auto token = [](SampleChain chain, std::uint64_t instance) {
    return ChainToken{.chain = chain,
                      .instance = instance,
                      .release_ns = sample_time(static_cast<std::int64_t>(instance) * 50'000)};
  };
  const auto add = [&](std::uint32_t callback, std::uint32_t track, std::int64_t start_us,
                       std::int64_t end_us, std::initializer_list<ChainToken> tokens,
                       Outcome outcome = Outcome::kRan) {
    InstanceRecord record = ran(callback, sample_time(start_us), sample_time(end_us), tokens);
    record.id = results.records.size();
    record.level = track == 0 ? 2 : 1;
    record.thread_track = track;
    record.outcome = outcome;
    results.records.push_back(record);
  };
  results.thread_tracks = {"main L2 #0", "slow L1 #0"};
  add(kScan, 0, 0, 2000, {token(kObstacle, 0)});
  add(kFuse, 0, 2000, 2010, {token(kObstacle, 0)}, Outcome::kBuffered);
  add(kCapture, 0, 2010, 5000, {token(kPlanning, 0)});
  add(kFuse, 0, 5000, 8000, {token(kObstacle, 0), token(kPlanning, 0)});
  add(kBrake, 0, 8000, 9000, {token(kObstacle, 0), token(kPlanning, 0)});
  add(kPlan, 1, 8000, 20'000, {token(kObstacle, 0), token(kPlanning, 0)});
  add(kScan, 0, 50'000, 87'000, {token(kObstacle, 1)});
  add(kCapture, 0, 87'000, 90'000, {token(kPlanning, 1)});
  add(kFuse, 0, 90'000, 93'250, {token(kObstacle, 1), token(kPlanning, 1)});
  add(kBrake, 0, 93'250, 94'250, {token(kObstacle, 1), token(kPlanning, 1)});
  results.records[8].preemptions = 2;
  add_sample_cpus(results);
}

/// 100 ms of the sample application with two releases of each chain, at 0 and 50 ms.
/// obstacle: instance 0 completes after 9 ms, instance 1 is late (44.25 ms, deadline 40 ms) because
/// CPU 1 stalled for 30 ms. planning: instance 0 completes after 20 ms, instance 1 is pending.
inline RunResults sample_results() {
  RunResults results;
  results.application = sample_application();
  results.application_file = "examples/vehicle/app.yaml";
  results.application_sha256 = std::string(64, '0');
  results.executor = model::ExecutorKind::kWaitSet;
  results.executor_label = "wait set (rclcpp semantics)";
  results.started_utc = "2026-01-02T03:04:05Z";
  results.window = {.start_ns = kSampleStart, .end_ns = sample_time(100'000)};
  results.context = {.machine = {.kernel = "6.1.0 #1 SMP PREEMPT_RT",
                                 .cpus = 2,
                                 .cpu_model = "Model",
                                 .preempt_rt = true},
                     .realtime = true,
                     .realtime_reason = "SCHED_FIFO permitted",
                     .memory_locked = true,
                     .rmw = "rmw_fastrtps_cpp",
                     .ros_distro = "jazzy",
                     .versions = {{"rcl", "9.2.8"}, {"rclrt", "1.2.3"}},
                     .steal_ms = 1.5,
                     .records_dropped = 3,
                     .foreign_messages = 2};
  results.host_stalls = {
      .valid = true,
      .reason = "",
      .threshold = std::chrono::microseconds(500),
      .stalls = {{.cpu = 1, .start_ns = sample_time(55'000), .end_ns = sample_time(85'000)}},
      .lost = 0};

  add_sample_records(results);

  const std::vector<ChainRelease> releases{{0, sample_time(0)}, {1, sample_time(50'000)}};
  results.chains =
      account_chains(results.application, results.window, std::vector{releases, releases},
                     results.records, results.host_stalls.attributable());
  results.callbacks =
      account_callbacks(results.application.callbacks.size(), results.records, results.cpu_parts);
  results.callback_counts = {{2, 2, 0}, {2, 2, 0}, {4, 3, 0}, {2, 2, 0}, {2, 1, 1}};
  results.kernel_priorities = {82, 82, 82, 82, std::nullopt};
  results.threads = {
      {.name = "main L2",
       .tid = 4711,
       .scheduling = {.policy = realtime::Policy::kFifo, .priority = 82, .cpus = {1}}},
      {.name = "slow L1", .tid = 4712}};
  return results;
}

}  // namespace rclrt::recorder
