// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/node_timing.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <tuple>

#include "limits.hpp"
#include "rclrt/model/file_kind.hpp"
#include "rclrt/yaml/file.hpp"
#include "read_robot_sections.hpp"
#include "yaml.hpp"

namespace rclrt::model {
namespace {

using namespace detail;  // NOLINT(google-build-using-namespace): the vocabulary of the readers

constexpr std::array<std::string_view, 5> kKinds{"timer", "subscription", "service", "client",
                                                 "waitable"};
constexpr IntegerRange kIndices{0, 1'000'000};
constexpr std::string_view kTimerPeriod = "timer_period_ms";

bool is_indexed(std::string_view kind) { return kind == "timer" || kind == "waitable"; }

/// Returns whether the name consists only of letters, digits, '_' and '/', as ROS permits. Messages
/// can then print the name without escapes.
bool is_ros_name(std::string_view name) {
  return name.size() > 1 && name.front() == '/' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '/';
         });
}

bool is_host_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

void read_kind(const YamlNode& node, const Fields& fields, NodeTiming& timing, Context& context) {
  std::vector<std::string_view> keys(kKinds.begin(), kKinds.end());
  keys.push_back(kTimerPeriod);
  for (const std::string_view key : keys) {
    const YamlNode* const value = fields.find(key);
    if (value == nullptr) {
      continue;
    }
    const std::string_view kind = key == kTimerPeriod ? "timer" : key;
    if (timing.kind) {
      context.diagnostics.report(node.at,
                                 "one entry for a " + *timing.kind + " and a " + std::string(key),
                                 "an entry of its own for each of the two");
      continue;
    }
    timing.kind = std::string(kind);
    if (key == kTimerPeriod) {
      timing.period = read_milliseconds(*value, key, Zero::kRefused, context);
    } else if (is_indexed(kind)) {
      const auto index = read_integer(*value, kind, kIndices, context);
      timing.name = std::to_string(index.value_or(0));
    } else {
      timing.name = read_ros_name(*value, kind, context).value_or("");
    }
  }
}

void read_whole_group(const Fields& fields, NodeTiming& timing, Context& context) {
  const YamlNode* const value = fields.find("whole_group");
  if (value == nullptr) {
    return;
  }
  timing.whole_group =
      yaml::read_choice<bool>(*value, "whole_group", {{"true", true}, {"false", false}}, context)
          .value_or(false);
  if (timing.whole_group && timing.kind == "waitable") {
    context.diagnostics.report(value->at, "whole_group beside waitable",
                               "group: N, or a callback of the group that has a name or a period");
  }
  if (timing.whole_group && !timing.kind) {
    context.diagnostics.report(value->at, "whole_group without a callback",
                               "a callback of the group in the same entry, such as "
                               "subscription: /topic or timer_period_ms: 100");
  }
}

void read_max_age(const Fields& fields, NodeTiming& timing, Context& context) {
  const YamlNode* const value = fields.find("max_age_ms");
  if (value == nullptr) {
    return;
  }
  timing.max_age = read_milliseconds(*value, "max_age_ms", Zero::kRefused, context);
  if (timing.whole_group) {
    context.diagnostics.report(value->at, "max_age_ms of a whole group",
                               "an entry of its own for each callback with a largest age");
  } else if (timing.kind != "subscription" && timing.kind != "timer") {
    context.diagnostics.report(value->at, "max_age_ms without a subscription or a timer",
                               "subscription: /topic or timer: N in the same entry, because only "
                               "messages, and what a timer samples, have an age");
  } else if (fields.find("deadline_ms") != nullptr) {
    context.diagnostics.report(value->at, "max_age_ms beside deadline_ms",
                               "one of the two: max_age_ms counts from the data's stamp, "
                               "deadline_ms from the release");
  }
}

void read_stamped_by(const Fields& fields, NodeTiming& timing, Context& context) {
  const YamlNode* const value = fields.find("stamped_by");
  if (value == nullptr) {
    return;
  }
  timing.stamped_by = yaml::read_text(*value, "stamped_by", context).value_or("");
  if (!is_host_name(timing.stamped_by)) {
    report_value(*value, "stamped_by",
                 "the name of a host in `rclrt clock`: 1 to 64 letters, digits, '.', '_' and '-'",
                 context);
  } else if (timing.kind != "subscription" || !timing.max_age) {
    context.diagnostics.report(value->at, "stamped_by without the age of a subscription",
                               "subscription: /topic and max_age_ms in the same entry");
  }
}

void read_values(const Fields& fields, NodeTiming& timing, Context& context) {
  if (const YamlNode* value = fields.find("priority")) {
    if (const auto priority = read_integer(*value, "priority", kPriorities, context)) {
      timing.priority = static_cast<int>(*priority);
    }
  }
  if (const YamlNode* value = fields.find("deadline_ms")) {
    timing.deadline = read_milliseconds(*value, "deadline_ms", Zero::kRefused, context);
  }
  read_max_age(fields, timing, context);
  read_stamped_by(fields, timing, context);
  const YamlNode* const value = fields.find("overload");
  if (value == nullptr) {
    return;
  }
  timing.overload = yaml::read_choice<Overload>(*value, "overload",
                                                {{"queue", Overload::kQueue},
                                                 {"keep_last", Overload::kKeepLast},
                                                 {"skip_if_running", Overload::kSkipIfRunning}},
                                                context);
  if (timing.kind && !may_overload(*timing.kind) &&
      timing.overload.value_or(Overload::kQueue) != Overload::kQueue) {
    report_value(*value, "overload of a " + *timing.kind,
                 "queue, because a request or response that is not taken now stays in the "
                 "queue and delays every later one",
                 context);
  }
}

NodeTiming read_entry(const YamlNode& node, Context& context) {
  NodeTiming timing;
  timing.line = node.at.line;
  std::vector<std::string_view> known{"node",       "group",       "whole_group",
                                      "priority",   "deadline_ms", "max_age_ms",
                                      "stamped_by", "overload",    kTimerPeriod};
  known.insert(known.end(), kKinds.begin(), kKinds.end());
  const Fields fields(node, "entry", known, context);
  if (node.kind != YamlKind::kMapping) {
    return timing;
  }
  if (const YamlNode* value = fields.require("node", "node: /lidar")) {
    timing.node = read_ros_name(*value, "node", context).value_or("");
  }
  read_kind(node, fields, timing, context);
  if (const YamlNode* value = fields.find("group")) {
    const auto group = read_integer(*value, "group", kIndices, context);
    timing.group = static_cast<std::size_t>(group.value_or(0));
  } else if (timing.kind && is_indexed(*timing.kind) && !timing.period) {
    timing.group = 0;
  }
  read_whole_group(fields, timing, context);
  read_values(fields, timing, context);
  return timing;
}

}  // namespace

namespace detail {

std::optional<std::string> read_ros_name(const YamlNode& node, std::string_view what,
                                         Context& context) {
  auto name = read_text(node, what, context);
  if (name && !is_ros_name(*name)) {
    report_value(node, what, "a fully qualified name, like /robot/lidar", context);
    return std::nullopt;
  }
  return name;
}

std::vector<NodeTiming> read_node_timings(const YamlNode& list, Context& context) {
  std::vector<NodeTiming> result;
  using Key = std::tuple<std::string, std::string, std::string, std::size_t, std::int64_t, bool>;
  std::map<Key, Position> seen;
  for (const YamlNode& each : read_list(list, "callbacks", context)) {
    NodeTiming timing = read_entry(each, context);
    const auto [first, fresh] =
        seen.try_emplace(Key(timing.node, timing.kind.value_or(""), timing.name,
                             timing.group ? *timing.group : SIZE_MAX,
                             timing.period ? timing.period->count() : -1, timing.whole_group),
                         each.at);
    if (!fresh && each.kind == YamlKind::kMapping) {
      context.diagnostics.report(
          each.at, "a second entry for the callbacks of " + yaml::line_of(first->second),
          "a single entry");
    }
    result.push_back(std::move(timing));
  }
  return result;
}

}  // namespace detail

TimingScope NodeTiming::scope() const {
  if (kind && !whole_group) {
    return TimingScope::kCallback;
  }
  return group || whole_group ? TimingScope::kGroup : TimingScope::kNode;
}

bool NodeTiming::fits(const CallbackPlace& place, std::chrono::nanoseconds timer_period) const {
  return node == place.node && (!group || *group == place.group) &&
         (!kind ||
          (*kind == place.kind && (period ? *period == timer_period : name == place.name)));
}

std::string milliseconds_text(std::chrono::nanoseconds time) {
  constexpr std::int64_t kNanoseconds = 1'000'000;
  std::string text = std::to_string(time.count() / kNanoseconds);
  std::string rest = std::to_string(kNanoseconds + time.count() % kNanoseconds).substr(1);
  rest.erase(rest.find_last_not_of('0') + 1);
  return rest.empty() ? text : text + "." + rest;
}

std::string to_string(const NodeTiming& timing) {
  std::string result = "node " + timing.node;
  if (timing.group) {
    result += ", group " + std::to_string(*timing.group);
  }
  if (timing.kind) {
    result += timing.whole_group ? ", the whole group of " : ", ";
    result += *timing.kind + " " + timing.name;
  }
  if (timing.period) {
    result += "with period " + milliseconds_text(*timing.period) + " ms";
  }
  return result;
}

NodeTimingsResult parse_node_timings(std::string_view text) {
  Context context;
  NodeTimingsResult result;
  const auto root = yaml::read_yaml(text, context.diagnostics);
  if (root && !report_other_kind(*root, FileKind::kRobot, context)) {
    const Fields fields(*root, "node priorities file", robot_keys(), context);
    if (root->kind == YamlKind::kMapping) {
      if (const YamlNode* version = fields.require("rclrt", "rclrt: 1")) {
        read_integer(*version, "the format version", kFormatVersions, context);
      }
      std::vector<NodeTiming> timings;
      if (const YamlNode* list =
              fields.require("callbacks", "callbacks: [{node: /lidar, timer: 0, priority: 5}]")) {
        timings = read_node_timings(*list, context);
      }
      if (context.diagnostics.empty()) {
        result.timings = std::move(timings);
      }
    }
  }
  result.diagnostics = context.diagnostics.take();
  return result;
}

std::vector<NodeTiming> load_node_timings(const std::filesystem::path& file) {
  NodeTimingsResult result = parse_node_timings(yaml::read_file(file, "node priorities file"));
  if (!result.timings) {
    throw yaml::FileError(file, result.diagnostics);
  }
  return *std::move(result.timings);
}

bool may_overload(std::string_view kind) { return kind == "timer" || kind == "subscription"; }

}  // namespace rclrt::model
