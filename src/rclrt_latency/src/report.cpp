// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "rclrt/recorder/machine_context.hpp"

namespace rclrt::latency {

namespace {

using Json = nlohmann::ordered_json;
using realtime::Histogram;

constexpr int kVersion = 1;

double us(std::int64_t time_ns) { return static_cast<double>(time_ns) / 1e3; }
double us(std::chrono::nanoseconds time) { return us(time.count()); }

Json times(const Histogram& histogram) {
  if (histogram.count() == 0) {
    return nullptr;
  }
  return {{"n", histogram.count()},
          {"min", us(histogram.min())},
          {"median", us(histogram.percentile(50))},
          {"mean", std::round(histogram.mean()) / 1e3},
          {"p99", us(histogram.percentile(99))},
          {"max", us(histogram.max())}};
}

/// Returns pairs of whole microseconds, rounded down, and the number of samples.
Json bins(const Histogram& histogram) {
  std::map<std::int64_t, std::uint64_t> counts;
  for (std::size_t i = 0; i < histogram.buckets().size(); ++i) {
    if (const std::uint64_t count = histogram.count_in(i); count != 0) {
      counts[histogram.buckets().middle_of(i) / 1000] += count;
    }
  }
  Json result = Json::array();
  for (const auto& [time_us, count] : counts) {
    result.push_back({time_us, count});
  }
  return result;
}

Json stalls(const StallCount& count) {
  return {{"count", count.count}, {"largest", us(count.largest_ns)}, {"total", us(count.total_ns)}};
}

Json thread_json(const ThreadSeries& thread) {
  Histogram undisturbed(thread.all);
  undisturbed.subtract(thread.disturbed);
  return {{"cpu", thread.cpu ? Json(*thread.cpu) : Json(nullptr)},
          {"overall", times(thread.all)},
          {"undisturbed", times(undisturbed)},
          {"disturbed", thread.disturbed.count()},
          {"stalls", stalls(thread.stalls)},
          {"undecided", stalls(thread.undecided)},
          {"missed", thread.missed},
          {"unjudged", thread.dropped},
          {"floor", us(thread.floor_ns)},
          {"histogram", bins(thread.all)},
          {"histogram_undisturbed", bins(undisturbed)}};
}

Json series_json(const Series& series) {
  Json threads = Json::array();
  for (const ThreadSeries& thread : series.threads) {
    threads.push_back(thread_json(thread));
  }
  return {{"policy", option_of(series.scheduling.policy)},
          {"scheduling", realtime::to_string(series.scheduling)},
          {"threads", std::move(threads)}};
}

Json broken_json(const std::optional<Break>& broken) {
  if (!broken) {
    return nullptr;
  }
  return {{"policy", option_of(broken->policy)},
          {"cpu", broken->cpu ? Json(*broken->cpu) : Json(nullptr)},
          {"latency", us(broken->sample.late_ns)},
          {"disturbed", broken->disturbed},
          {"dump", broken->dump.empty() ? Json(nullptr) : Json(broken->dump.string())},
          {"dump_error", broken->dump_error}};
}

Json machine_json() {
  const recorder::MachineContext machine = recorder::read_machine_context();
  return {{"kernel", machine.kernel},
          {"cpus", machine.cpus},
          {"cpu_model", machine.cpu_model},
          {"preempt_rt", machine.preempt_rt},
          {"measured_utc", recorder::utc_now()}};
}

}  // namespace

std::string to_json(const Settings& settings, const Result& result) {
  Json series = Json::array();
  for (const Series& one : result.series) {
    series.push_back(series_json(one));
  }
  const Json document = {
      {"rclrt_latency", kVersion},
      {"machine", machine_json()},
      {"interval_us", us(settings.interval)},
      {"seconds", static_cast<double>(settings.duration.count()) / 1e9},
      {"loops", settings.loops == 0 ? Json(nullptr) : Json(settings.loops)},
      {"rounds", settings.rounds},
      {"stress", settings.stress},
      {"cpus", result.cpus},
      {"notes", result.notes},
      {"stalls",
       {{"method", to_string(settings.stalls)},
        {"threshold_us", us(settings.threshold())},
        {"valid", result.stalls_valid},
        {"reason", result.stalls_reason},
        {"lost", result.stalls_lost},
        {"watched", result.watched ? Json(*result.watched) : Json(nullptr)},
        {"smis", result.smis ? Json(*result.smis) : Json(nullptr)}}},
      {"interrupted", result.interrupted},
      {"break_above_us", settings.break_above ? Json(us(*settings.break_above)) : Json(nullptr)},
      {"broken", broken_json(result.broken)},
      {"series", std::move(series)}};
  // A name that is not UTF-8 must not end the program.
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rclrt::latency
