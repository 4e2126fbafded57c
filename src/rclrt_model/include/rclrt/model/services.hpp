// SPDX-License-Identifier: Apache-2.0
// Services in the graph of topics: a client's requests and its responses are a topic each. Their
// names have a double underscore, which no topic of a file may have.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"

namespace rclrt::model {

/// Returns the topic of the requests that are sent by the client whose callback has this id.
RCLRT_MODEL_EXPORT std::string request_topic(std::string_view client);
/// Returns the topic of the responses that this client takes.
RCLRT_MODEL_EXPORT std::string response_topic(std::string_view client);

/// Returns whether the topic stands for requests or responses: ROS has no topic of this name.
RCLRT_MODEL_EXPORT bool is_service_topic(std::string_view topic);

/// Returns the id of the client whose requests the topic stands for; empty for other topics.
RCLRT_MODEL_EXPORT std::string_view client_called_by(std::string_view topic);

/// Returns what the messages are that trigger the callback: kTopic for timers and syncs, too.
RCLRT_MODEL_EXPORT Role role_of(const Callback& callback);

/// Returns the word of app.yaml for what triggers the callback: "timer", "service" and so on.
RCLRT_MODEL_EXPORT const char* trigger_name(const Callback& callback);

/// Returns the ids of the clients by which the callback sends requests, in the order of
/// `publishes`.
RCLRT_MODEL_EXPORT std::vector<std::string> calls(const Callback& callback);

/// Returns the index of the service that the client's requests go to; the number of callbacks when
/// there is none.
RCLRT_MODEL_EXPORT std::size_t server_of(const Application& application, const Callback& client);

}  // namespace rclrt::model
