// SPDX-License-Identifier: Apache-2.0
// The keys "service", "client" and "calls". Their topics are in the graph, but not in the file.
#pragma once

#include "draft.hpp"
#include "read_trigger.hpp"
#include "reader.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

/// Reads the trigger `service` or `client` of a callback. The topics of its requests and responses
/// are added by add_service_topics(), when all callbacks are known.
TriggerDraft read_service(const YamlNode& node, TopicReader& topics);
TriggerDraft read_client(const YamlNode& node, TopicReader& topics);
void read_calls(const YamlNode& node, CallbackSource& source, TopicReader& topics);

/// Adds the topics of the services, of the clients and of the callbacks that call them.
void add_service_topics(Reading& reading);

}  // namespace rclrt::model::detail
