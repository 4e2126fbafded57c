// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/observed_model.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "found_model.hpp"
#include "rclrt/recorder/statistics.hpp"

namespace rclrt::recorder {

namespace {

/// The limit of an app.yaml.
constexpr std::int64_t kLongest_ns = 3'600'000'000'000;

/// Returns the times limited to what a file can state.
std::optional<model::ObservedTimes> to_observed(const std::optional<Summary>& times) {
  const auto limited = [](std::int64_t time_ns) {
    return model::Nanoseconds(std::min(time_ns, kLongest_ns));
  };
  return times ? std::optional(model::ObservedTimes{.n = times->count,
                                                    .p50 = limited(times->p50_ns),
                                                    .p99 = limited(times->p99_ns),
                                                    .max = limited(times->worst_ns)})
               : std::nullopt;
}

/// Returns the execution times of each callback.
std::vector<std::optional<model::ObservedTimes>> execution_times(const RunResults& results) {
  std::vector<std::optional<model::ObservedTimes>> observed;
  if (results.streamed) {
    for (const CallbackResult& each : results.callbacks) {
      observed.push_back(to_observed(each.execution));
    }
    return observed;
  }
  std::vector<std::vector<std::int64_t>> times(results.application.callbacks.size());
  for (const InstanceRecord& record : results.records) {
    if (record.outcome == Outcome::kRan) {
      times[record.callback].push_back(record.cpu_ns);
    }
  }
  for (std::vector<std::int64_t>& each : times) {
    observed.push_back(to_observed(summarise(std::move(each))));
  }
  return observed;
}

}  // namespace

model::Application observed_model(const RunResults& results) {
  model::Application application = results.application;
  const auto observed = execution_times(results);
  for (std::size_t i = 0; i < observed.size(); ++i) {
    model::Callback& callback = application.callbacks[i];
    if (observed[i] && !callback.observed) {
      callback.observed = observed[i];
      callback.wcet = callback.observed->max;
    }
  }
  make_valid(application, results);
  return application;
}

}  // namespace rclrt::recorder
