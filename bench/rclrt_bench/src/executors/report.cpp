// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <sys/utsname.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "costs.hpp"
#include "plan.hpp"

namespace rclrt::bench {

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isnan(value) ? Json(nullptr) : Json(value); }

Json per_dispatch(double sum, const Row& row) {
  return row.dispatches == 0 ? Json(nullptr) : Json(sum / static_cast<double>(row.dispatches));
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      return line.substr(line.find(':') + 2);
    }
  }
  return {};
}

Json machine() {
  utsname names{};
  uname(&names);
  return {{"kernel", std::string(names.release) + " " + names.version},
          {"architecture", names.machine},
          {"cpu", cpu_model()}};
}

Json to_json(const Rows& rows, const Row& row) {
  Json json = {
      {"case", row.key.name},
      {"executor", row.key.executor},
      {"cpus", row.key.cpus},
      {"entity", row.key.entity},
      {"entities", row.key.entities},
      {"levels", row.key.levels},
      {"n", row.latency.count()},
      {"p50_us", number(row.latency.quantile_us(0.5))},
      {"p99_us", number(row.latency.quantile_us(0.99))},
      {"p999_us", number(row.latency.quantile_us(0.999))},
      {"max_us", number(row.latency.quantile_us(1.0))},
      {"lost", row.lost},
      {"allocations", counts_allocations() ? per_dispatch(static_cast<double>(row.allocations), row)
                                           : Json(nullptr)},
      {"system_calls", row.system_calls ? Json(*row.system_calls) : Json(nullptr)},
      {"cpu_us", per_dispatch(static_cast<double>(row.cpu_ns) / 1000.0, row)},
      {"floor_us", number(floor_us(rows, row))},
      {"per_second", nullptr}};
  if (row.handling_ns != 0) {
    json["per_second"] =
        static_cast<double>(row.handled) * 1e9 / static_cast<double>(row.handling_ns);
  }
  return json;
}

}  // namespace

std::string to_json(const CommandLine& line, const Conditions& conditions, const Rows& rows) {
  Json json = {{"rclrt_bench", 1},
               {"benchmark", "executors"},
               {"machine", machine()},
               {"realtime", conditions.realtime},
               {"realtime_reason", conditions.realtime_reason},
               {"system_calls_reason", conditions.system_calls_reason},
               {"cpus", line.cpus},
               {"quick", line.quick},
               {"quiet", line.quiet},
               {"rounds", conditions.rounds},
               {"samples_per_round", line.samples},
               {"seconds", conditions.seconds},
               {"load_before", conditions.load_before},
               {"steal_ms", conditions.steal_ms}};
  Json& all = json["rows"] = Json::array();
  for (const Row& row : rows.all()) {
    all.push_back(to_json(rows, row));
  }
  return json.dump(1) + "\n";
}

}  // namespace rclrt::bench
