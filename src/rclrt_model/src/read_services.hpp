// SPDX-License-Identifier: Apache-2.0
// The keys "service", "client" and "calls": topics of the graph that the file does not name.
#pragma once

#include "draft.hpp"
#include "read_trigger.hpp"
#include "reader.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

/// Their topics follow when all callbacks are known: see add_service_topics().
TriggerDraft read_service(const YamlNode& node, TopicReader& topics);
TriggerDraft read_client(const YamlNode& node, TopicReader& topics);
void read_calls(const YamlNode& node, CallbackSource& source, TopicReader& topics);

/// Gives the services, the clients and those that call them their topics.
void add_service_topics(Reading& reading);

}  // namespace rclrt::model::detail
