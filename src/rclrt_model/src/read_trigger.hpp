// SPDX-License-Identifier: Apache-2.0
// The triggers of a callback: the keys "timer", "subscription", "sync" and "event";
// `read_services.hpp` has the others.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rclrt/model/application.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

/// Reads the topics of one callback and records whether any could not be read.
class TopicReader {
 public:
  TopicReader(std::string_view name_space, Context& context)
      : name_space_(name_space), context_(context) {}

  /// Returns the topic, or an empty text if the topic, or the service's name, could not be read.
  std::string read(const YamlNode& node, std::string_view what = "topic");

  /// Records that a topic is missing.
  void lose() { lost_ = true; }

  bool all_read() const { return !lost_; }
  Context& context() { return context_; }

 private:
  std::string_view name_space_;
  Context& context_;
  bool lost_ = false;
};

struct TriggerDraft {
  std::variant<Timer, Subscription, Sync, Event> trigger;
  std::vector<Position> inputs;  ///< positions of its topics
  Position service{};            ///< for a service or client: the position of the service's name
};

/// Reads the number of messages that may wait: the key "depth".
std::size_t read_depth(const Fields& fields, Context& context);

TriggerDraft read_timer(const YamlNode& node, Context& context);
TriggerDraft read_subscription(const YamlNode& node, TopicReader& topics);
TriggerDraft read_sync(const YamlNode& node, TopicReader& topics);
TriggerDraft read_event(const YamlNode& node, Context& context);

}  // namespace rclrt::model::detail
