// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/observed_model.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "found_model.hpp"
#include "rclrt/recorder/statistics.hpp"

namespace rclrt::recorder {

namespace {

/// The limit of an app.yaml.
constexpr std::int64_t kLongest_ns = 3'600'000'000'000;

}  // namespace

model::Application observed_model(const RunResults& results) {
  model::Application application = results.application;
  std::vector<std::vector<std::int64_t>> times(application.callbacks.size());
  for (const InstanceRecord& record : results.records) {
    if (record.outcome == Outcome::kRan) {
      times[record.callback].push_back(std::min(record.cpu_ns, kLongest_ns));
    }
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    model::Callback& callback = application.callbacks[i];
    if (times[i].empty() || callback.observed) {
      continue;
    }
    std::ranges::sort(times[i]);
    callback.observed = model::ObservedTimes{.n = times[i].size(),
                                             .p50 = model::Nanoseconds(nearest_rank(times[i], 50)),
                                             .p99 = model::Nanoseconds(nearest_rank(times[i], 99)),
                                             .max = model::Nanoseconds(times[i].back())};
    callback.wcet = callback.observed->max;
  }
  make_valid(application, results);
  return application;
}

}  // namespace rclrt::recorder
