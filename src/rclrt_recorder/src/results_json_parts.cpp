// SPDX-License-Identifier: Apache-2.0
#include "results_json_parts.hpp"

#include <algorithm>
#include <utility>

namespace rclrt::recorder {

namespace {

/// Returns the boundary that messages cross between two callbacks.
const char* between(const RunResults& results, std::size_t from, std::size_t to) {
  const model::Application& application = results.application;
  const HostTable& table = results.hosts;
  if (!table.hosts.empty() && table.of_callback[from] != table.of_callback[to]) {
    return "hosts";
  }
  const auto executor = [&](std::size_t callback) { return application.executor_of(callback); };
  if (application.executors[executor(from)].process !=
      application.executors[executor(to)].process) {
    return "processes";
  }
  return executor(from) != executor(to) ? "executors" : "callbacks";
}

Json offset_json(const std::optional<std::pair<std::int64_t, std::int64_t>>& offset) {
  return offset ? Json::array({to_ms(offset->first), to_ms(offset->second)}) : Json(nullptr);
}

}  // namespace

Json times_json(const std::optional<Summary>& summary) {
  if (!summary) {
    return nullptr;
  }
  return {{"best", to_ms(summary->best_ns)},
          {"mean", to_ms(summary->mean_ns)},
          {"p50", to_ms(summary->p50_ns)},
          {"p99", to_ms(summary->p99_ns)},
          {"worst", to_ms(summary->worst_ns)}};
}

Json hop_json(const RunResults& results, const HopResult& hop) {
  const model::Application& application = results.application;
  Json json = {{"from", application.callbacks[hop.from].id},
               {"to", application.callbacks[hop.to].id},
               {"between", between(results, hop.from, hop.to)},
               {"messages", hop.time.count},
               {"time_ms", times_json(hop.time)}};
  if (const HostTable& table = results.hosts; !table.hosts.empty()) {
    json["error_ms"] = to_ms(hop.error_ns);
    json["early"] = hop.early;
  }
  return json;
}

Json host_json(const RunResults& results, std::size_t index) {
  const HostTable& table = results.hosts;
  const HostTimes& host = table.hosts[index];
  Json callbacks = Json::array();
  for (std::size_t i = 0; i < table.of_callback.size(); ++i) {
    if (table.of_callback[i] == index) {
      callbacks.push_back(results.application.callbacks[i].id);
    }
  }
  const auto [least, most] =
      std::ranges::minmax_element(host.knots, {}, &HostTimes::Knot::error_ns);
  const bool is_reference = host.knots.empty();
  RunWindow traced = {.start_ns = std::max(host.traced.start_ns, results.window.start_ns),
                      .end_ns = std::min(host.traced.end_ns, results.window.end_ns)};
  traced.end_ns = std::max(traced.start_ns, traced.end_ns);  // it may lie outside of the window
  Json json = {{"name", host.name},
               {"boot", host.boot.empty() ? Json(nullptr) : Json(host.boot)},
               {"compared_with", is_reference ? Json(nullptr) : Json(host.compared_with)},
               {"received", host.received},
               {"sent", host.sent},
               {"samples", host.samples},
               {"least_error_ms", to_ms(is_reference ? 0 : least->error_ns)},
               {"most_error_ms", to_ms(is_reference ? 0 : most->error_ns)},
               {"first_offset_ms", offset_json(host.first_offset_ns)},
               {"last_offset_ms", offset_json(host.last_offset_ns)},
               {"traced_ms", Json::array({to_ms(traced.start_ns - results.window.start_ns),
                                          to_ms(traced.end_ns - results.window.start_ns)})},
               {"callbacks", callbacks}};
  if (!host.machine.empty()) {
    json["machine"] = host.machine;
    json["steps"] = host.steps;
    json["lost"] = host.lost.empty() ? Json(nullptr) : Json(host.lost);
  }
  return json;
}

}  // namespace rclrt::recorder
