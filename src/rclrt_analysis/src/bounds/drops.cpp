// SPDX-License-Identifier: Apache-2.0
#include "bounds/drops.hpp"

#include <algorithm>

namespace rclrt::analysis::detail {

namespace {

bool skips_releases(const model::Timer& timer, bool skips) {
  return skips || timer.overrun != model::OverrunPolicy::kCatchUp;
}

}  // namespace

std::size_t queue_depth(const model::Callback& callback, bool skips) {
  constexpr std::size_t kTimerDepth = 10;
  if (callback.overload != model::Overload::kQueue) {
    return 1;
  }
  if (const auto* timer = std::get_if<model::Timer>(&callback.trigger)) {
    return skips_releases(*timer, skips) ? 1 : kTimerDepth;
  }
  if (const auto* event = std::get_if<model::Event>(&callback.trigger)) {
    return event->depth;
  }
  if (const auto* sync = std::get_if<model::Sync>(&callback.trigger)) {
    return sync->depth;
  }
  return std::get<model::Subscription>(callback.trigger).depth;
}

void assume_no_drops(const model::Callback& callback, Ticks pending, bool skips,
                     std::vector<std::string>& assumptions) {
  const auto assume = [&](const std::string& what) {
    if (std::ranges::find(assumptions, what) == assumptions.end()) {
      assumptions.push_back(what);
    }
  };
  const auto* timer = std::get_if<model::Timer>(&callback.trigger);
  if (callback.overload != model::Overload::kQueue && pending > 1) {
    assume("the overload policy of '" + callback.id + "' drops no instance");
  }
  if (timer != nullptr && skips_releases(*timer, skips)) {
    if (pending > 1) {
      assume("each release of the timer '" + callback.id +
             "' starts before its next release, which is skipped otherwise");
    }
    return;
  }
  const std::size_t depth = queue_depth(callback, skips);
  if (pending > static_cast<Ticks>(depth)) {
    assume("the queue of '" + callback.id + "' (depth " + std::to_string(depth) +
           ") does not overflow");
  }
}

void assume_observed_times(const model::Application& application,
                           std::vector<std::string>& assumptions) {
  std::size_t count = 0;
  std::uint64_t fewest = UINT64_MAX;
  for (const model::Callback& each : application.callbacks) {
    if (each.observed) {
      ++count;
      fewest = std::min(fewest, each.observed->n);
    }
  }
  if (count > 0) {
    assumptions.push_back("the execution times of " + std::to_string(count) +
                          (count == 1 ? " callback" : " callbacks") +
                          " are the longest observed, of " + std::to_string(fewest) +
                          (fewest == 1 ? " run" : " runs") + " at least: none takes longer");
  }
}

bool shares_a_group(const model::Application& application, const model::Chain& chain) {
  const auto& callbacks = application.callbacks;
  return std::ranges::any_of(chain.callbacks, [&](std::size_t own) {
    return callbacks[own].group && std::ranges::any_of(callbacks, [&](const auto& other) {
             return &other != &callbacks[own] && other.node == callbacks[own].node &&
                    other.group == callbacks[own].group;
           });
  });
}

}  // namespace rclrt::analysis::detail
