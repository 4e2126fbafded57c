// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/services.hpp"

#include <algorithm>

namespace rclrt::model {
namespace {

constexpr std::string_view kRequest = "__request";
constexpr std::string_view kResponse = "__response";

}  // namespace

std::string request_topic(std::string_view client) { return std::string(client).append(kRequest); }

std::string response_topic(std::string_view client) {
  return std::string(client).append(kResponse);
}

bool is_service_topic(std::string_view topic) {
  return topic.ends_with(kRequest) || topic.ends_with(kResponse);
}

std::string_view client_called_by(std::string_view topic) {
  return topic.ends_with(kRequest) ? topic.substr(0, topic.size() - kRequest.size())
                                   : std::string_view();
}

Role role_of(const Callback& callback) {
  const auto* subscription = std::get_if<Subscription>(&callback.trigger);
  return subscription != nullptr ? subscription->role : Role::kTopic;
}

const char* trigger_name(const Callback& callback) {
  switch (role_of(callback)) {
    case Role::kService:
      return "service";
    case Role::kClient:
      return "client";
    case Role::kTopic:
      break;
  }
  switch (callback.kind()) {
    case CallbackKind::kTimer:
      return "timer";
    case CallbackKind::kSync:
      return "sync";
    case CallbackKind::kEvent:
      return "event";
    case CallbackKind::kSubscription:
      break;
  }
  return "subscription";
}

std::vector<std::string> calls(const Callback& callback) {
  std::vector<std::string> result;
  for (const std::string& topic : callback.publishes) {
    if (const std::string_view client = client_called_by(topic); !client.empty()) {
      result.emplace_back(client);
    }
  }
  return result;
}

std::size_t server_of(const Application& application, const Callback& client) {
  const auto* own = std::get_if<Subscription>(&client.trigger);
  const auto found = std::ranges::find_if(application.callbacks, [&](const Callback& other) {
    return own != nullptr && role_of(other) == Role::kService &&
           std::get<Subscription>(other.trigger).service == own->service;
  });
  return static_cast<std::size_t>(found - application.callbacks.begin());
}

}  // namespace rclrt::model
