// SPDX-License-Identifier: Apache-2.0
#include "bounds/separate_lanes.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "demand.hpp"

namespace rclrt::analysis::detail {

namespace {

/// Returns the number of each callback's lane.
std::vector<std::size_t> lanes_of(const model::Application& application,
                                  const model::ExecutorChoice& executor) {
  std::map<std::pair<std::size_t, std::string>, std::size_t> groups;
  std::vector<std::size_t> result;
  std::size_t lanes = 0;
  for (const model::Callback& callback : application.callbacks) {
    if (executor.timers_thread) {
      result.push_back(callback.kind() == model::CallbackKind::kTimer ? 0 : 1);
    } else if (callback.group) {
      const auto [at, is_new] = groups.try_emplace({callback.node, *callback.group}, lanes);
      lanes += is_new ? 1 : 0;
      result.push_back(at->second);
    } else {
      result.push_back(lanes++);
    }
  }
  return result;
}

/// Returns whether members of a group are in different lanes.
bool divides_a_group(const model::Application& application, const std::vector<std::size_t>& lanes) {
  std::map<std::pair<std::size_t, std::string>, std::size_t> groups;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const model::Callback& callback = application.callbacks[i];
    if (callback.group &&
        groups.try_emplace({callback.node, *callback.group}, lanes[i]).first->second != lanes[i]) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<model::Application> with_separate_lanes(const model::Application& application,
                                                      const model::ExecutorChoice& executor) {
  if (executor.max_threads() == 1 || application.executors.size() != 1 ||
      application.callbacks.empty()) {
    return std::nullopt;
  }
  const model::Executor& own = application.executors.front();
  const std::vector<std::size_t> lanes = lanes_of(application, executor);
  const std::size_t count = *std::ranges::max_element(lanes) + 1;
  if (count > executor.max_threads() || count > own.cpus.size() ||
      divides_a_group(application, lanes)) {
    return std::nullopt;
  }
  model::Application result = application;
  for (std::size_t lane = 0; lane < count; ++lane) {
    model::Executor one = own;
    one.cpus = {own.cpus[lane]};
    lane == 0 ? result.executors.front() = std::move(one)
              : result.executors.emplace_back(std::move(one));
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    result.callbacks[i].executor = lanes[i];
  }
  return result;
}

Overheads separate_overheads(const Overheads& overheads, const model::Application& application,
                             const model::ExecutorChoice& executor) {
  Overheads result = overheads;
  const auto cpus = static_cast<Ticks>(application.executors.front().cpus.size());
  // In a wait, each other callback is drawn three times at most (GlobalWindow::runs_in_wait).
  constexpr Ticks kMostDraws = 3;
  const auto others = static_cast<Ticks>(application.callbacks.size() - 1);
  const Ticks draws = executor.threads > 1 ? product(kMostDraws, others) + 1 : 1;
  const Ticks draw = sum(overheads.handover, overheads.polling);
  result.dispatch = sum(result.dispatch, product(draws, draw));
  result.handover = 0;
  result.far = result.near;
  result.stall = product(result.stall, cpus);
  result.background = product(result.background, cpus);
  return result;
}

}  // namespace rclrt::analysis::detail
