// SPDX-License-Identifier: Apache-2.0
#include "rclrt/service.hpp"

#include <rcl/error_handling.h>

#include <utility>

#include "rclrt/detail/publish_scope.hpp"
#include "rclrt/error.hpp"
#include "rclrt/node.hpp"
#include "tracing.hpp"

namespace rclrt {

ServiceBase::ServiceBase(std::shared_ptr<NodeHandle> node,
                         const rosidl_service_type_support_t* type, const std::string& name,
                         const QoS& qos, const CallbackOptions& options)
    : Entity(executor::EntityType::kService, name, qos.depth(), options),
      node_(std::move(node)),
      service_(rcl_get_zero_initialized_service()) {
  rcl_service_options_t rcl_options = rcl_service_get_default_options();
  rcl_options.qos = qos.rmw();
  detail::check(rcl_service_init(&service_, &node_->node, type, name.c_str(), &rcl_options),
                "creating service \"" + name + "\"");
  detail::trace_service(*this, *node_, service_);
}

ServiceBase::~ServiceBase() {
  detail::report(rcl_service_fini(&service_, &node_->node), "ending a service");
}

std::string ServiceBase::get_service_name() const {
  return rcl_service_get_service_name(&service_);
}

void ServiceBase::add_to(rcl_wait_set_t& wait_set) {
  detail::check(rcl_wait_set_add_service(&wait_set, &service_, &place_),
                "adding a service to a wait set");
}

bool ServiceBase::is_ready_in(const rcl_wait_set_t& wait_set) const {
  return wait_set.services[place_] != nullptr;
}

bool ServiceBase::take(void* request, rmw_request_id_t& id, InstanceInfo& info) {
  rmw_service_info_t service_info{};
  const rcl_ret_t result = rcl_take_request_with_info(&service_, &service_info, request);
  if (result != RCL_RET_OK) {
    // A context that was shut down meanwhile invalidates the service: nothing to take.
    if (result == RCL_RET_SERVICE_TAKE_FAILED || !node_->context->ok()) {
      rcl_reset_error();
      return false;
    }
    throw Error("taking a request of service \"" + get_service_name() + "\"", result);
  }
  if (info.ready_ns == 0) {  // polled: this one was not announced
    forget_one();
  }
  id = service_info.request_id;
  stamp_arrival(info, service_info.received_timestamp);
  return true;
}

void ServiceBase::respond(rmw_request_id_t& id, void* response) {
  rcl_ret_t result = RCL_RET_ERROR;
  {
    const detail::PublishScope scope;
    result = rcl_send_response(&service_, &id, response);
  }
  if (result == RCL_RET_OK) {
    return;
  }
  // A client that cannot be found is not an error of the service, so the executor goes on.
  if (result == RCL_RET_TIMEOUT || !node_->context->ok()) {
    rcl_reset_error();
    lost_responses_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  throw Error("answering a request of service \"" + get_service_name() + "\"", result);
}

void ServiceBase::on_new_request(const void* self, std::size_t count) {
  static_cast<ServiceBase*>(static_cast<Entity*>(const_cast<void*>(self)))->notify(count);
}

void ServiceBase::attach() {
  if (!has_listener_) {
    listen(
        [this] {
          return rcl_service_set_on_new_request_callback(&service_, &on_new_request,
                                                         static_cast<Entity*>(this));
        },
        "listening to service \"" + get_service_name() + "\"");
    has_listener_ = true;
  }
  start_listening();
}

void ServiceBase::detach() noexcept { stop_listening(); }

}  // namespace rclrt
