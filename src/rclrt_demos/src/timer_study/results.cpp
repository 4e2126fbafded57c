// SPDX-License-Identifier: Apache-2.0
#include "results.hpp"

#include <algorithm>
#include <cinttypes>

namespace rclrt::timer_study {

namespace {

std::string json_string(const std::string& text) {
  std::string result = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') {
      result += '\\';
    }
    result += static_cast<unsigned char>(each) < 0x20 ? ' ' : each;
  }
  return result + "\"";
}

double us(std::int64_t ns) { return static_cast<double>(ns) * 1e-3; }

/// The figures of a distribution; the extremes are exact if the record has them.
struct Figures {
  const realtime::Histogram& values;
  std::int64_t min_ns;
  std::int64_t max_ns;

  /// Returns the percentile in us, at most the maximum. (The histogram returns the upper end of a
  /// bucket, which may be above the largest value.)
  double percentile(double percent) const {
    return us(std::min(values.percentile(percent), max_ns));
  }
};

Figures latency_of(const LatencyRecord& record) {
  return {record.latency(), record.min_ns(), record.max_ns()};
}

Figures since_rcl_call_of(const LatencyRecord& record) {
  const realtime::Histogram& values = record.since_rcl_call();
  return {values, values.min(), values.max()};
}

void write_distribution(std::FILE* stream, const char* name, const Figures& figures) {
  const realtime::Histogram& values = figures.values;
  std::fprintf(stream,
               "  \"%s\": {\"n\": %" PRIu64
               ", \"min\": %.3f, \"mean\": %.3f, \"sd\": %.3f, \"p50\": %.3f, \"p99\": %.3f, "
               "\"max\": %.3f},\n",
               name, values.count(), us(figures.min_ns), values.mean() * 1e-3,
               values.standard_deviation() * 1e-3, figures.percentile(50), figures.percentile(99),
               us(figures.max_ns));
}

void print_distribution(std::FILE* stream, const char* title, const Figures& figures) {
  const realtime::Histogram& values = figures.values;
  std::fprintf(stream,
               "%-34s n %-8" PRIu64 " min %9.3f  mean %9.3f  sd %9.3f  p99 %9.3f  max %9.3f us\n",
               title, values.count(), us(figures.min_ns), values.mean() * 1e-3,
               values.standard_deviation() * 1e-3, figures.percentile(99), us(figures.max_ns));
}

void write_threads(std::FILE* stream, const std::vector<ThreadState>& threads) {
  std::fprintf(stream, "  \"threads\": [");
  const char* separator = "\n";
  for (const ThreadState& each : threads) {
    std::fprintf(stream,
                 "%s    {\"step\": %s, \"tid\": %d, \"name\": %s, \"policy\": \"%s\", "
                 "\"pri\": %d, \"ni\": %d, \"rtprio\": %d, \"psr\": %d}",
                 separator, json_string(each.step).c_str(), each.tid,
                 json_string(each.name).c_str(), each.policy.c_str(), each.priority, each.nice,
                 each.rt_priority, each.cpu);
    separator = ",\n";
  }
  std::fprintf(stream, "\n  ],\n");
}

}  // namespace

void write_hist(std::FILE* stream, const LatencyRecord& record) {
  std::fprintf(stream, "latency,count\n");
  for (std::size_t i = 0; i < record.bins().size(); ++i) {
    std::fprintf(stream, "%zu,%" PRIu64 "\n", i, record.bins()[i]);
  }
  std::fprintf(stream, "overflow,%" PRIu64 "\n", record.overflow());
}

void write_topn(std::FILE* stream, const LatencyRecord& record) {
  std::fprintf(stream, "latency,index\n");
  for (const TopLatency& each : record.top()) {
    std::fprintf(stream, "%" PRId64 ",%" PRIu64 "\n", each.latency_ns, each.index);
  }
}

void write_timeseries(std::FILE* stream, const LatencyRecord& record) {
  std::fprintf(stream, "idx,latency\n");
  for (std::size_t i = 0; i < record.rows().size(); ++i) {
    std::fprintf(stream, "%zu,%" PRId64 "\n", i, record.rows()[i].latency_ns);
  }
}

void write_rttest(std::FILE* stream, const LatencyRecord& record) {
  std::fprintf(stream, "iteration timestamp latency minor_pagefaults major_pagefaults\n");
  for (std::size_t i = 0; i < record.rows().size(); ++i) {
    const Row& row = record.rows()[i];
    std::fprintf(stream, "%zu %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", i, row.release_ns,
                 row.latency_ns, row.minor_faults, row.major_faults);
  }
}

void write_summary(std::FILE* stream, const RunDescription& run, const LatencyRecord& record) {
  const RttestOptions& rttest = run.options.rttest;
  std::fprintf(stream, "{\n  \"program\": %s,\n  \"rmw\": %s,\n  \"policy_set_before\": \"%s\",\n",
               json_string(run.program).c_str(), json_string(run.rmw).c_str(),
               to_string(run.options.policy_set));
  std::fprintf(stream, "  \"policy\": \"%s\",\n  \"priority\": %d,\n  \"period_us\": %.3f,\n",
               rttest.policy == realtime::Policy::kFifo ? "fifo" : "rr", rttest.priority,
               us(rttest.period_ns));
  std::fprintf(stream, "  \"realtime\": %s,\n  \"realtime_problem\": %s,\n",
               run.realtime_problem.empty() ? "true" : "false",
               json_string(run.realtime_problem).c_str());
  std::fprintf(stream, "  \"threads_started\": {");
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    std::fprintf(stream, "%s%s: %zu", i == 0 ? "" : ", ", json_string(run.steps[i]).c_str(),
                 run.step_threads[i]);
  }
  std::fprintf(stream, "},\n");
  write_threads(stream, run.threads);
  write_distribution(stream, "latency_us", latency_of(record));
  if (run.measures_callbacks) {
    write_distribution(stream, "since_rcl_call_us", since_rcl_call_of(record));
    std::fprintf(stream, "  \"missed_passes\": %" PRIu64 ",\n", run.missed_passes);
  }
  std::fprintf(stream,
               "  \"overflow\": %" PRIu64 ",\n  \"minor_pagefaults\": %" PRId64
               ",\n  \"major_pagefaults\": %" PRId64 "\n}\n",
               record.overflow(), record.minor_faults(), record.major_faults());
}

void print_statistics(std::FILE* stream, const RunDescription& run, const LatencyRecord& record) {
  std::fprintf(stream, "\nMinor page faults: %" PRId64 "\nMajor page faults: %" PRId64 "\n",
               record.minor_faults(), record.major_faults());
  print_distribution(stream, "Latency from the nominal release:", latency_of(record));
  if (run.measures_callbacks) {
    print_distribution(stream,
                       "Time since the call of rcl_timer_call, as the published study measures it:",
                       since_rcl_call_of(record));
  }
  if (run.missed_passes > 0) {
    std::fprintf(stream, "Passes that found no timer ready: %" PRIu64 "\n", run.missed_passes);
  }
}

}  // namespace rclrt::timer_study
