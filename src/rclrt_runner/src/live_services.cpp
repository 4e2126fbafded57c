// SPDX-License-Identifier: Apache-2.0
#include "live_services.hpp"

#include <rcl/graph.h>

#include <algorithm>
#include <rclrt/model/services.hpp>
#include <stdexcept>
#include <utility>

namespace rclrt::runner {

using rclrt_msgs::msg::ChainMessage;
using rclrt_msgs::srv::ChainCall;

namespace {

const model::Subscription& end_of(const model::Application& application, std::size_t callback) {
  return std::get<model::Subscription>(application.callbacks[callback].trigger);
}

/// Returns the callbacks that send the requests of a service, in the order of its inputs.
std::vector<std::uint32_t> clients_of(const model::Application& application, std::size_t server) {
  std::vector<std::uint32_t> result;
  for (const std::string& topic : end_of(application, server).topics) {
    const auto found = std::ranges::find(application.callbacks, model::client_called_by(topic),
                                         &model::Callback::id);
    result.push_back(static_cast<std::uint32_t>(found - application.callbacks.begin()));
  }
  return result;
}

}  // namespace

LiveService::LiveService(const model::Application& application, std::size_t callback, Node& node,
                         const CallbackOptions& options, MessageWork work,
                         std::vector<const ChainMessage*> responses)
    : node_(node.handle()),
      clients_(clients_of(application, callback)),
      work_(std::move(work)),
      responses_(std::move(responses)) {
  const model::Subscription& service = end_of(application, callback);
  service_ = node.create_service<ChainCall>(
      service.service,
      [this](const ChainCall::Request& request, ChainCall::Response& response) {
        const std::optional<std::size_t> input = input_of(request.client);
        if (!input) {
          ++foreign_requests_;
          return;  // an empty response
        }
        work_(request.message, *input);
        response.message = *responses_[*input];
      },
      QoS(service.depth * clients_.size()), options);
}

std::optional<std::size_t> LiveService::input_of(std::uint32_t client) const {
  const auto found = std::ranges::find(clients_, client);
  if (found == clients_.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - clients_.begin());
}

std::size_t LiveService::count_clients() const {
  std::size_t count = 0;
  detail::check(rcl_count_clients(&node_->node, service_->get_service_name().c_str(), &count),
                "counting the clients of a service");
  return count;
}

std::size_t LiveService::count_servers() const {
  std::size_t count = 0;
  detail::check(rcl_count_services(&node_->node, service_->get_service_name().c_str(), &count),
                "counting the servers of a service");
  return count;
}

LiveClient::LiveClient(const model::Application& application, std::size_t callback, Node& node,
                       const CallbackOptions& options, MessageWork work)
    : number_(static_cast<std::uint32_t>(callback)), work_(std::move(work)) {
  const model::Subscription& end = end_of(application, callback);
  client_ = node.create_client<ChainCall>(end.service, QoS(end.depth), options);
}

void LiveClient::send(const ChainMessage& message) {
  ChainCall::Request request;
  request.client = number_;
  request.message = message;
  client_->async_send_request(
      request, [this](const ChainCall::Response& response) { work_(response.message, 0); });
}

}  // namespace rclrt::runner
