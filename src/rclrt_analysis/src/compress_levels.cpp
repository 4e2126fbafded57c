// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/compress_levels.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace rclrt::analysis {
namespace {

/// The callbacks of one priority, or of one of several merged priorities.
struct Level {
  std::set<int> members;  // the priorities merged into it
  double work_ns = 0;     // sum of WCETs
  double urgency = 0;     // sum of 1 / the shortest deadline of the chains, over the merged levels
};

using Deadline = model::Nanoseconds::rep;
using Levels = std::map<int, Level, std::greater<>>;  // the most urgent first

/// Returns the levels of each executor.
std::vector<Levels> levels_of(const model::Application& application,
                              const std::vector<int>& priorities) {
  std::vector<Levels> result(application.executors.size());
  const auto level = [&](std::size_t callback) -> Level& {
    return result.at(application.executor_of(callback))[priorities.at(callback)];
  };
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    level(i).members.insert(priorities[i]);
    level(i).work_ns += static_cast<double>(application.callbacks[i].wcet.count());
  }
  for (const model::Chain& chain : application.chains) {
    const double urgency = 1.0 / static_cast<double>(std::max<Deadline>(chain.deadline.count(), 1));
    for (const std::size_t callback : chain.callbacks) {
      level(callback).urgency = std::max(level(callback).urgency, urgency);
    }
  }
  return result;
}

/// Returns the shares of the more urgent levels' deadlines that the less urgent ones may take.
double cost(const Level& high, const Level& low) { return high.urgency * low.work_ns; }

/// Merges the pair of neighbours with the least cost.
void merge_cheapest(Levels& levels) {
  auto cheapest = levels.begin();
  double least = 0;
  for (auto high = levels.begin(); std::next(high) != levels.end(); ++high) {
    const double now = cost(high->second, std::next(high)->second);
    if (high == levels.begin() || now < least) {
      cheapest = high;
      least = now;
    }
  }
  const auto low = std::next(cheapest);
  Level& into = cheapest->second;
  into.members.merge(low->second.members);
  into.work_ns += low->second.work_ns;
  into.urgency += low->second.urgency;
  levels.erase(low);
}

}  // namespace

CompressedLevels compress_levels(const model::Application& application,
                                 const std::vector<int>& priorities, std::size_t most) {
  if (most == 0) {
    throw std::invalid_argument("at most 0 priorities: callbacks need at least one");
  }
  CompressedLevels result{.priorities = priorities, .merged = {}};
  std::vector<Levels> executors = levels_of(application, priorities);
  std::vector<std::map<int, int>> into(executors.size());
  for (std::size_t executor = 0; executor < executors.size(); ++executor) {
    Levels& levels = executors[executor];
    while (levels.size() > most) {
      merge_cheapest(levels);
    }
    for (const auto& [priority, level] : levels) {
      for (auto member = level.members.rbegin(); member != level.members.rend(); ++member) {
        into[executor][*member] = priority;
        if (*member != priority) {
          result.merged.push_back({executor, *member, priority});
        }
      }
    }
  }
  for (std::size_t i = 0; i < result.priorities.size(); ++i) {
    const std::size_t executor = application.executor_of(i);
    result.priorities[i] = into[executor].at(result.priorities[i]);
  }
  return result;
}

}  // namespace rclrt::analysis
