// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/publications.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "clock_error.hpp"
#include "publisher_choice.hpp"

namespace rclrt::recorder {

namespace {

constexpr std::size_t kAtOnce = 64;  // instances of one reentrant callback

using Times = std::vector<std::int64_t>;

/// The runs of one callback.
struct Runs {
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;  // by their start
  std::int64_t busy_ns = 0;

  bool cover(std::int64_t time_ns, std::int64_t error_ns) const {
    auto after = std::ranges::upper_bound(spans, time_ns + error_ns, {},
                                          &std::pair<std::int64_t, std::int64_t>::first);
    for (std::size_t i = 0; i < kAtOnce && after != spans.begin(); ++i) {
      if ((--after)->second + error_ns >= time_ns) {
        return true;
      }
    }
    return false;
  }
};

std::vector<Runs> runs_of(const model::Application& application,
                          std::span<const LoggedInstance> instances) {
  std::vector<Runs> runs(application.callbacks.size());
  for (const LoggedInstance& each : instances) {
    if (each.record.outcome == Outcome::kRan) {
      Runs& own = runs[each.record.callback];
      own.spans.emplace_back(each.record.start_ns, each.record.end_ns);
      own.busy_ns += each.record.end_ns - each.record.start_ns;
    }
  }
  for (Runs& each : runs) {
    std::ranges::sort(each.spans);
  }
  return runs;
}

/// Returns the times of publication on each topic, each once.
std::map<std::string, Times> publications(const model::Application& application,
                                          std::span<const LoggedInstance> instances) {
  std::map<std::string, Times> result;
  for (const LoggedInstance& each : instances) {
    const std::vector<std::string> topics = inputs(application.callbacks[each.record.callback]);
    if (each.published_ns != 0 && topics.size() == 1) {
      result[topics.front()].push_back(each.published_ns);
    }
  }
  for (auto& [topic, times] : result) {
    std::ranges::sort(times);
    times.erase(std::ranges::unique(times).begin(), times.end());
  }
  return result;
}

}  // namespace

void find_publications(model::Application& application, std::span<const LoggedInstance> instances,
                       const std::vector<std::set<std::string>>& of_node) {
  const std::vector<Runs> runs = runs_of(application, instances);
  for (auto& [topic, times] : publications(application, instances)) {
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
      const std::size_t node = application.callbacks[i].node;
      if (node < of_node.size() && of_node[node].contains(topic) && !runs[i].spans.empty()) {
        candidates.push_back(i);
      }
    }
    const auto covers = [&, &of = times](std::size_t message, std::size_t candidate,
                                         std::int64_t error_ns) {
      return runs[candidate].cover(of[message], error_ns);
    };
    for (const std::size_t each :
         choose_publishers(times.size(), candidates, covers,
                           [&](std::size_t candidate) { return runs[candidate].busy_ns; })) {
      std::vector<std::string>& publishes = application.callbacks[each].publishes;
      if (std::ranges::find(publishes, topic) == publishes.end()) {
        publishes.push_back(topic);
      }
    }
  }
}

}  // namespace rclrt::recorder
