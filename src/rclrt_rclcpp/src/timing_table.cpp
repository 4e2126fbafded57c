// SPDX-License-Identifier: Apache-2.0
#include "timing_table.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>

#include "rclrt/model/host.hpp"
#include "rclrt/yaml/file.hpp"
#include "rclrt/yaml/suggest.hpp"

namespace rclrt_rclcpp {

namespace {

using rclrt::model::TimingScope;

std::vector<rclrt::model::NodeTiming> read(const std::filesystem::path& file,
                                           const std::string& process) {
  try {
    if (file.empty()) {
      return {};
    }
    if (process.empty()) {
      return rclrt::model::load_node_timings(file);
    }
    const rclrt::model::Host host = rclrt::model::load_host(file);
    const rclrt::model::HostProcess* const found = host.find(process);
    if (found == nullptr) {
      throw std::invalid_argument(file.string() + ": there is no process '" + process + "'");
    }
    return found->robot.callbacks;
  } catch (const rclrt::yaml::FileError& error) {
    throw std::invalid_argument(error.what());
  }
}

// As in the recorder's model_conversion.hpp, which this package does not need otherwise.
std::optional<engine::Overload> to_engine(const std::optional<rclrt::model::Overload>& overload) {
  if (!overload) {
    return std::nullopt;
  }
  switch (*overload) {
    case rclrt::model::Overload::kKeepLast:
      return engine::Overload::kKeepLast;
    case rclrt::model::Overload::kSkipIfRunning:
      return engine::Overload::kSkipIfRunning;
    case rclrt::model::Overload::kQueue:
      break;
  }
  return engine::Overload::kQueue;
}

void fill(Timing& timing, const Timing& with) {
  timing.priority = with.priority ? with.priority : timing.priority;
  if (with.deadline || with.max_age) {  // one replaces the other
    timing.deadline = with.deadline;
    timing.max_age = with.max_age;
    timing.stamped_by = with.stamped_by;
  }
  timing.overload = with.overload ? with.overload : timing.overload;
}

/// Returns the period of a timer as a remark; an empty text if there is none.
std::string period_in_words(std::chrono::nanoseconds period) {
  return period.count() == 0 ? "" : " (every " + rclrt::model::milliseconds_text(period) + " ms)";
}

/// Returns a suggestion: the nearest node name, or the entities of the node.
std::string guess(const rclrt::model::NodeTiming& timing, const Entries& entries) {
  std::set<std::string> nodes;
  std::set<std::string> siblings;
  for (const auto& [key, entry] : entries) {
    nodes.insert(entry.place.node);
    if (entry.place.node == timing.node && (!timing.kind || *timing.kind == entry.place.kind)) {
      siblings.insert(
          (entry.place.group == 0 ? "" : "group " + std::to_string(entry.place.group) + ", ") +
          entry.place.kind + " " + entry.place.name + period_in_words(entry.period));
    }
  }
  if (!nodes.contains(timing.node)) {
    const std::vector<std::string_view> known(nodes.begin(), nodes.end());
    const auto suggestion = rclrt::yaml::Suggester().suggest(timing.node, known, "");
    return suggestion.guess.empty() ? "; there is no such node"
                                    : "; did you mean " + std::string(suggestion.guess) + "?";
  }
  constexpr std::size_t kMost = 5;
  std::string text;
  std::size_t count = 0;
  for (const std::string& each : siblings) {
    text += ++count > kMost ? "" : (text.empty() ? "" : "; ") + each;
  }
  return text.empty() ? "; the node has no " + timing.kind.value_or("callback")
                      : "; the node has " + text + (count > kMost ? " and others" : "");
}

}  // namespace

TimingTable::TimingTable(const std::filesystem::path& file, const std::string& process)
    : file_(file), stated_(read(file, process)) {}

bool TimingTable::has_whole_groups() const {
  return std::ranges::any_of(stated_, &rclrt::model::NodeTiming::whole_group);
}

FileEntries TimingTable::whole_group_entries(const std::vector<Described>& members) const {
  FileEntries result;
  for (const rclrt::model::NodeTiming& each : stated_) {
    if (each.whole_group && std::ranges::any_of(members, [&each](const Described& member) {
          return each.fits(member.place, member.period);
        })) {
      result.push_back(&each);
    }
  }
  return result;
}

Timing TimingTable::timing_of(const Key& entity, const Described& described, const Key& group,
                              const FileEntries& of_group, const Key& node) const {
  const auto fits = [&](const rclrt::model::NodeTiming& each) {
    return each.whole_group ? std::ranges::find(of_group, &each) != of_group.end()
                            : each.fits(described.place, described.period);
  };
  Timing timing;
  const auto apply = [&](const Key& part, TimingScope scope) {
    if (const auto found = set_.find(part); found != set_.end()) {
      fill(timing, found->second);
    }
    for (const rclrt::model::NodeTiming& each : stated_) {
      if (each.scope() == scope && fits(each)) {
        fill(timing, {each.priority, each.deadline, each.max_age, to_engine(each.overload),
                      each.stamped_by.empty() ? std::nullopt : std::optional(each.stamped_by)});
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

std::vector<std::string> TimingTable::unmatched(const Entries& entries, bool with_guess) const {
  std::vector<std::string> result;
  for (const rclrt::model::NodeTiming& each : stated_) {
    if (std::none_of(entries.begin(), entries.end(), [&](const auto& entry) {
          return each.fits(entry.second.place, entry.second.period);
        })) {
      result.push_back(file_.string() + ":" + std::to_string(each.line) + ": nothing fits " +
                       rclrt::model::to_string(each) + (with_guess ? guess(each, entries) : ""));
    }
  }
  return result;
}

}  // namespace rclrt_rclcpp
