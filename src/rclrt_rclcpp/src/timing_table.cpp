// SPDX-License-Identifier: Apache-2.0
#include "timing_table.hpp"

#include <algorithm>
#include <stdexcept>

#include "rclrt/recorder/model_conversion.hpp"
#include "rclrt/yaml/file.hpp"

namespace rclrt_rclcpp {

namespace {

using rclrt::model::TimingScope;

std::vector<rclrt::model::NodeTiming> read(const std::filesystem::path& file) {
  try {
    return file.empty() ? std::vector<rclrt::model::NodeTiming>()
                        : rclrt::model::load_node_timings(file);
  } catch (const rclrt::yaml::FileError& error) {
    throw std::invalid_argument(error.what());
  }
}

std::optional<engine::Overload> to_engine(const std::optional<rclrt::model::Overload>& overload) {
  return overload ? std::optional(rclrt::recorder::to_engine(*overload)) : std::nullopt;
}

void fill(Timing& timing, const Timing& with) {
  timing.priority = with.priority ? with.priority : timing.priority;
  if (with.deadline || with.max_age) {  // one takes the place of the other
    timing.deadline = with.deadline;
    timing.max_age = with.max_age;
  }
  timing.overload = with.overload ? with.overload : timing.overload;
}

}  // namespace

TimingTable::TimingTable(const std::filesystem::path& file) : file_(file), stated_(read(file)) {}

Timing TimingTable::timing_of(const Key& entity, const Place& place, const Key& group,
                              const Key& node) const {
  Timing timing;
  const auto apply = [&](const Key& part, TimingScope scope) {
    if (const auto found = set_.find(part); found != set_.end()) {
      fill(timing, found->second);
    }
    for (const rclrt::model::NodeTiming& each : stated_) {
      if (each.scope() == scope && each.fits(place)) {
        fill(timing, {each.priority, each.deadline, each.max_age, to_engine(each.overload)});
      }
    }
  };
  apply(node, TimingScope::kNode);
  apply(group, TimingScope::kGroup);
  apply(entity, TimingScope::kCallback);
  return timing;
}

Timing TimingTable::set(const Key& part, const Timing& timing) {
  Timing& own = set_[part];
  const Timing before = own;
  fill(own, timing);
  return before;
}

std::vector<std::string> TimingTable::unmatched(const Entries& entries) const {
  std::vector<std::string> result;
  for (const rclrt::model::NodeTiming& each : stated_) {
    if (std::none_of(entries.begin(), entries.end(),
                     [&](const auto& entry) { return each.fits(entry.second.place); })) {
      result.push_back(file_.string() + ":" + std::to_string(each.line) + ": nothing fits " +
                       rclrt::model::to_string(each));
    }
  }
  return result;
}

}  // namespace rclrt_rclcpp
