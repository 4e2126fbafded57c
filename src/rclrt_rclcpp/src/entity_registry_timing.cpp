// SPDX-License-Identifier: Apache-2.0
// What an executor's callbacks are told of priorities, and what they tell.
#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "entity_registry.hpp"
#include "rclrt/recorder/model_conversion.hpp"

namespace rclrt_rclcpp {

namespace {

using rclrt::model::TimingScope;

std::optional<engine::Overload> to_engine(const std::optional<rclrt::model::Overload>& overload) {
  return overload ? std::optional(rclrt::recorder::to_engine(*overload)) : std::nullopt;
}

void fill(Timing& timing, const Timing& with) {
  timing.priority = with.priority ? with.priority : timing.priority;
  timing.deadline = with.deadline ? with.deadline : timing.deadline;
  timing.overload = with.overload ? with.overload : timing.overload;
}

}  // namespace

std::string to_string(const Place& place) {
  return (place.node.empty() ? "?" : place.node) + " " + place.kind + " " + place.name;
}

/// The widest first; at each of them what the file says goes before what code says.
Timing Executor::EntityRegistry::timing_of(const Key& entity, const Place& place,
                                           const rclcpp::CallbackGroup::WeakPtr& group,
                                           const Key& node) const {
  Timing timing;
  const auto apply = [&](const Key& part, TimingScope scope) {
    if (const auto found = timings_.find(part); found != timings_.end()) {
      fill(timing, found->second);
    }
    for (const rclrt::model::NodeTiming& each : stated_) {
      if (each.scope() == scope && each.fits(place)) {
        fill(timing, {each.priority, each.deadline, to_engine(each.overload)});
      }
    }
  };
  apply(node, TimingScope::kNode);
  apply(group, TimingScope::kGroup);
  apply(entity, TimingScope::kCallback);
  return timing;
}

void Executor::EntityRegistry::set_timing(const std::shared_ptr<void>& part, const Timing& timing) {
  if (!part) {
    throw std::invalid_argument("nullptr has no priority");
  }
  if (timing.deadline && timing.deadline->count() < 0) {
    throw std::invalid_argument("a deadline must not be negative");
  }
  Timing before;
  const Change change{.make =
                          [&] {
                            Timing& own = timings_[Key(part)];
                            before = own;
                            fill(own, timing);
                          },
                      .take_back = [&] { timings_[Key(part)] = before; }};
  refresh(Wait::kUntilNothingRuns, &change);
}

std::vector<CallbackInfo> Executor::EntityRegistry::callbacks() {
  refresh();
  std::vector<CallbackInfo> result;
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, entry] : entries_) {
    const engine::Callback& callback = *entry.bound.callback;
    result.push_back({entry.place.node, entry.place.kind, entry.place.name, entry.place.group,
                      callback.level(), std::chrono::nanoseconds(callback.deadline_ns()),
                      callback.overload(), callback.counters()});
  }
  std::sort(result.begin(), result.end(), [](const CallbackInfo& a, const CallbackInfo& b) {
    return std::tie(a.node, a.group, a.kind, a.name) < std::tie(b.node, b.group, b.kind, b.name);
  });
  return result;
}

std::vector<std::string> Executor::EntityRegistry::unmatched() {
  std::vector<std::string> result;
  refresh();
  const std::scoped_lock lock(mutex_);
  for (const rclrt::model::NodeTiming& each : stated_) {
    if (std::none_of(entries_.begin(), entries_.end(),
                     [&](const auto& entry) { return each.fits(entry.second.place); })) {
      result.push_back(file_.string() + ":" + std::to_string(each.line) + ": nothing fits " +
                       rclrt::model::to_string(each));
    }
  }
  return result;
}

}  // namespace rclrt_rclcpp
