// SPDX-License-Identifier: Apache-2.0
// What makes a callback run: the keys "timer", "subscription", "sync" and "event";
// `read_services.hpp` has the others.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rclrt/model/application.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

/// Reads topics of one callback and notes whether any could not be read.
class TopicReader {
 public:
  TopicReader(std::string_view name_space, Context& context)
      : name_space_(name_space), context_(context) {}

  /// Empty when the topic, or the service's name, could not be read.
  std::string read(const YamlNode& node, std::string_view what = "topic");

  /// For topics that are not there to be read.
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
  std::vector<Position> inputs;  ///< where its topics stand
  Position service{};            ///< of a service or client: where the service's name stands
};

/// How many messages may wait: the key "depth".
std::size_t read_depth(const Fields& fields, Context& context);

TriggerDraft read_timer(const YamlNode& node, Context& context);
TriggerDraft read_subscription(const YamlNode& node, TopicReader& topics);
TriggerDraft read_sync(const YamlNode& node, TopicReader& topics);
TriggerDraft read_event(const YamlNode& node, Context& context);

}  // namespace rclrt::model::detail
