// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/publications.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "clock_error.hpp"

namespace rclrt::recorder {

namespace {

constexpr std::size_t kAtOnce = 64;  // instances of one reentrant callback
/// One in this number of messages is a coincidence.
constexpr std::size_t kCoincidence = 50;
/// A constructor may publish one, and a callback that still runs at the end another one.
constexpr std::size_t kAtEnds = 2;

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

/// Removes the times at which the callback was running, within the error of the clocks.
Times without_those_of(const Runs& runs, const Times& times) {
  Times rest;
  std::ranges::copy_if(times, std::back_inserter(rest),
                       [&](std::int64_t time) { return !runs.cover(time, kClockError_ns); });
  return rest;
}

std::size_t count_of(const Runs& runs, const Times& times) {
  return static_cast<std::size_t>(
      std::ranges::count_if(times, [&](std::int64_t time) { return runs.cover(time, 0); }));
}

/// Returns the callbacks that published on a topic; none if they do not explain all messages.
std::vector<std::size_t> publishers_of(Times times, const std::vector<std::size_t>& candidates,
                                       const std::vector<Runs>& runs) {
  const std::size_t all = times.size();
  const std::size_t least =
      std::max<std::size_t>(1, all / kCoincidence / std::max<std::size_t>(1, candidates.size()));
  std::vector<std::size_t> result;
  while (!times.empty()) {
    std::size_t most = 0;
    std::vector<std::size_t> counts;
    for (const std::size_t each : candidates) {
      counts.push_back(count_of(runs[each], times));
      most = std::max(most, counts.back());
    }
    if (most < least) {
      break;
    }
    // Among those that ran at about as many publications, the one that ran least in total.
    std::size_t best = candidates.size();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (counts[i] + counts[i] / kCoincidence >= most &&
          (best == candidates.size() ||
           runs[candidates[i]].busy_ns < runs[candidates[best]].busy_ns)) {
        best = i;
      }
    }
    result.push_back(candidates[best]);
    times = without_those_of(runs[candidates[best]], times);
  }
  // If many messages remain, a thread outside of callbacks publishes on the topic. Then no callback
  // is returned, and a subscription to the topic becomes an event: the rate of the callbacks alone
  // would be too low for it. The callbacks that were found may also be coincidences.
  return times.size() > std::max(kAtEnds, all / kCoincidence) ? std::vector<std::size_t>() : result;
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
    for (const std::size_t each : publishers_of(std::move(times), candidates, runs)) {
      std::vector<std::string>& publishes = application.callbacks[each].publishes;
      if (std::ranges::find(publishes, topic) == publishes.end()) {
        publishes.push_back(topic);
      }
    }
  }
}

}  // namespace rclrt::recorder
