// SPDX-License-Identifier: Apache-2.0
#include "rclrt/client.hpp"

#include <rcl/error_handling.h>
#include <rcl/graph.h>

#include <utility>

#include "rclrt/detail/poll_until.hpp"
#include "rclrt/error.hpp"
#include "rclrt/node.hpp"
#include "tracing.hpp"

namespace rclrt {

ClientBase::ClientBase(std::shared_ptr<NodeHandle> node, const rosidl_service_type_support_t* type,
                       const std::string& name, const QoS& qos, const CallbackOptions& options)
    : Entity(executor::EntityType::kClient, name, qos.depth(), options),
      node_(std::move(node)),
      client_(rcl_get_zero_initialized_client()) {
  rcl_client_options_t rcl_options = rcl_client_get_default_options();
  rcl_options.qos = qos.rmw();
  detail::check(rcl_client_init(&client_, &node_->node, type, name.c_str(), &rcl_options),
                "creating a client of service \"" + name + "\"");
  detail::trace_client(*this, *node_);
}

ClientBase::~ClientBase() {
  detail::report(rcl_client_fini(&client_, &node_->node), "ending a client");
}

std::string ClientBase::get_service_name() const { return rcl_client_get_service_name(&client_); }

bool ClientBase::service_is_ready() const {
  bool ready = false;
  const rcl_ret_t result = rcl_service_server_is_available(&node_->node, &client_, &ready);
  if (result != RCL_RET_OK && !node_->context->ok()) {
    rcl_reset_error();
    return false;
  }
  detail::check(result, "looking for servers of a service");
  return ready;
}

bool ClientBase::wait_for_service(realtime::SaturatingNanoseconds timeout) const RCLRT_WAITS {
  return detail::poll_until(*node_->context, timeout, [this] { return service_is_ready(); });
}

void ClientBase::add_to(rcl_wait_set_t& wait_set) {
  detail::check(rcl_wait_set_add_client(&wait_set, &client_, &place_),
                "adding a client to a wait set");
}

bool ClientBase::is_ready_in(const rcl_wait_set_t& wait_set) const {
  return wait_set.clients[place_] != nullptr;
}

std::int64_t ClientBase::send(const void* request) {
  std::int64_t number = 0;
  const rcl_ret_t result = rcl_send_request(&client_, request, &number);
  if (result != RCL_RET_OK) {
    throw Error("sending a request to service \"" + get_service_name() + "\"", result);
  }
  return number;
}

bool ClientBase::take(void* response, std::int64_t& request, InstanceInfo& info) {
  rmw_service_info_t service_info{};
  const rcl_ret_t result = rcl_take_response_with_info(&client_, &service_info, response);
  if (result != RCL_RET_OK) {
    // A context that was shut down meanwhile invalidates the client: nothing to take.
    if (result == RCL_RET_CLIENT_TAKE_FAILED || !node_->context->ok()) {
      rcl_reset_error();
      return false;
    }
    throw Error("taking a response of service \"" + get_service_name() + "\"", result);
  }
  request = service_info.request_id.sequence_number;
  stamp_arrival(info, service_info.received_timestamp);
  return true;
}

void ClientBase::attach() {
  listen(
      [this] {
        return rcl_client_set_on_new_response_callback(&client_, &on_new_work,
                                                       static_cast<Entity*>(this));
      },
      "setting the callback for new responses of a service");
}

void ClientBase::detach() noexcept {
  // Waits for a listener that is running: after it returned, none will run.
  detail::report(rcl_client_set_on_new_response_callback(&client_, nullptr, nullptr),
                 "ending a listener");
  await_held();
}

}  // namespace rclrt
