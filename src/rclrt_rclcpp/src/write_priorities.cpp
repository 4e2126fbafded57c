// SPDX-License-Identifier: Apache-2.0
// Writes the callbacks of an executor as a node priorities file.
#include <algorithm>
#include <array>
#include <iomanip>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "rclrt_rclcpp/executors.hpp"

namespace rclrt_rclcpp {

namespace {

/// Returns whether rclcpp makes such a callback for every node: for its parameters, its log levels
/// and the descriptions of its types.
bool is_of_every_node(const CallbackInfo& callback) {
  if (callback.kind == "subscription") {
    return callback.name == "/parameter_events";
  }
  constexpr std::array<std::string_view, 9> kServices{
      "describe_parameters", "get_logger_levels",    "get_parameter_types",
      "get_parameters",      "get_type_description", "list_parameters",
      "set_logger_levels",   "set_parameters",       "set_parameters_atomically"};
  const std::string_view name = callback.name;
  const std::size_t length = callback.node.size();
  return callback.kind == "service" && name.starts_with(callback.node) &&
         name.substr(length).starts_with('/') &&
         std::ranges::find(kServices, name.substr(length + 1)) != kServices.end();
}

void write_entry(std::ostream& out, const CallbackInfo& each) {
  out << "  - {node: " << each.node << ", group: " << each.group << ", " << each.kind << ": "
      << each.name << ", priority: " << each.priority;
  const bool from_stamp = each.max_age.count() != 0;
  if (from_stamp || each.deadline.count() != 0) {
    out << (from_stamp ? ", max_age_ms: " : ", deadline_ms: ") << std::fixed << std::setprecision(6)
        << static_cast<double>((from_stamp ? each.max_age : each.deadline).count()) / 1e6
        << std::defaultfloat;
  }
  if (!each.stamped_by.empty()) {
    out << ", stamped_by: " << each.stamped_by;
  }
  switch (each.overload) {
    case engine::Overload::kKeepLast:
      out << ", overload: keep_last";
      break;
    case engine::Overload::kSkipIfRunning:
      out << ", overload: skip_if_running";
      break;
    case engine::Overload::kQueue:
      break;
  }
  out << "}\n";
}

/// Writes the entries, if there are any, below a comment.
void write_entries(std::ostream& out, const std::vector<CallbackInfo>& entries,
                   std::string_view comment) {
  if (!entries.empty() && !comment.empty()) {
    out << "  # " << comment << "\n";
  }
  for (const CallbackInfo& each : entries) {
    write_entry(out, each);
  }
}

}  // namespace

void Executor::write_priorities(std::ostream& out) {
  std::vector<CallbackInfo> own;
  std::vector<CallbackInfo> waitables;
  std::vector<CallbackInfo> of_every_node;
  std::vector<CallbackInfo> of_no_node;
  std::set<std::tuple<std::string, std::size_t, std::string, std::string>> seen;
  for (const CallbackInfo& each : callbacks()) {
    if (!seen.emplace(each.node, each.group, each.kind, each.name).second) {
      continue;  // a subscription and its intra-process waitable
    }
    auto& list = each.node.empty()         ? of_no_node
                 : is_of_every_node(each)  ? of_every_node
                 : each.kind == "waitable" ? waitables
                                           : own;
    list.push_back(each);
  }
  const bool is_empty = own.empty() && waitables.empty() && of_every_node.empty();
  out << "rclrt: 1\ncallbacks:" << (is_empty ? " []" : "") << "\n";
  write_entries(out, own, "");
  for (const CallbackInfo& each : of_no_node) {
    out << "  # of a node that the executor does not know: " << each.kind << " " << each.name
        << "\n";
  }
  write_entries(out, waitables,
                "Actions, and events of publishers and subscriptions, as lost messages. They have "
                "no names.");
  write_entries(out, of_every_node,
                "Callbacks that rclcpp makes for every node. They rarely need an entry.");
}

}  // namespace rclrt_rclcpp
