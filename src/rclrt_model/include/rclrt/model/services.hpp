// SPDX-License-Identifier: Apache-2.0
// Services in the graph of topics: a client's requests and its responses are one topic each. Their
// names have a double underscore, which is not permitted for topics in a file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"

namespace rclrt::model {

/// Returns the topic of the requests of the client with this callback id.
RCLRT_MODEL_EXPORT std::string request_topic(std::string_view client);
/// Returns the topic of the responses that this client takes.
RCLRT_MODEL_EXPORT std::string response_topic(std::string_view client);

/// Returns whether the topic represents requests or responses: ROS has no topic of this name.
RCLRT_MODEL_EXPORT bool is_service_topic(std::string_view topic);

/// Returns the id of the client with requests on this topic; empty for other topics.
RCLRT_MODEL_EXPORT std::string_view client_called_by(std::string_view topic);

/// Returns the kind of messages that trigger the callback; kTopic for timers and syncs, too.
RCLRT_MODEL_EXPORT Role role_of(const Callback& callback);

/// Returns the key of the callback's trigger in app.yaml: "timer", "service" and so on.
RCLRT_MODEL_EXPORT const char* trigger_name(const Callback& callback);

/// Returns the ids of the clients through which the callback sends requests, in the order of
/// Callback::publishes. Empty if it sends none.
RCLRT_MODEL_EXPORT std::vector<std::string> calls(const Callback& callback);

/// Returns the index (into Application::callbacks) of the service that receives the requests of
/// `client`. Returns the number of callbacks if there is no such service.
RCLRT_MODEL_EXPORT std::size_t server_of(const Application& application, const Callback& client);

}  // namespace rclrt::model
