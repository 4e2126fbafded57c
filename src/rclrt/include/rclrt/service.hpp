// SPDX-License-Identifier: Apache-2.0
// Services.
#pragma once

#include <rcl/service.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <rosidl_typesupport_cpp/service_type_support.hpp>
#include <string>
#include <utility>

#include "rclrt/detail/tracing.hpp"
#include "rclrt/entity.hpp"
#include "rclrt/export.hpp"
#include "rclrt/qos.hpp"
#include "rclrt/subscription.hpp"

namespace rclrt {

/// An rcl service as an entity of the engine: each request is an instance.
class RCLRT_EXPORT ServiceBase : public Entity {
 public:
  /// Makes the service; use Node::create_service.
  RCLRT_SETUP ServiceBase(std::shared_ptr<NodeHandle> node,
                          const rosidl_service_type_support_t* type, const std::string& name,
                          const QoS& qos, const CallbackOptions& options);
  ~ServiceBase() override;

  /// Returns the name after remapping, with its namespace.
  std::string get_service_name() const;

  /// Returns how many responses the middleware did not send because it did not find the client. The
  /// client is not discovered yet (rmw_fastrtps waits 100 ms for that), has ended, or has another
  /// QoS. Thread-safe.
  std::uint64_t lost_responses() const noexcept RCLRT_NONBLOCKING {
    return lost_responses_.load(std::memory_order_relaxed);
  }

  void count_places(WaitSetPlaces& places) const override { ++places.services; }
  void add_to(rcl_wait_set_t& wait_set) override;
  bool is_ready_in(const rcl_wait_set_t& wait_set) const override;

 protected:
  /// Takes the oldest request. Returns false if there is none. Throws Error.
  bool take(void* request, rmw_request_id_t& id, InstanceInfo& info);
  /// Sends the answer to the client that asked, or counts it as lost. Throws Error.
  void respond(rmw_request_id_t& id, void* response);

  void attach() override;
  void detach() noexcept override;

 private:
  static void on_new_request(const void* self, std::size_t count);

  const std::shared_ptr<NodeHandle> node_;
  rcl_service_t service_;
  std::size_t place_ = 0;  // in the wait set
  std::atomic<std::uint64_t> lost_responses_{0};
  // true from the first `attach` on. The listener is never removed, because rmw_fastrtps calls a
  // service's listener without checking whether it was removed meanwhile.
  bool has_listener_ = false;  // used by attach alone
};

/// A service with a callback that fills in the response.
template <typename S>
class Service : public ServiceBase {
 public:
  using Request = S::Request;
  using Response = S::Response;

 protected:
  /// Makes the service; use Node::create_service.
  RCLRT_SETUP Service(std::shared_ptr<NodeHandle> node, const std::string& name, const QoS& qos,
                      const CallbackOptions& options)
      : ServiceBase(std::move(node), rosidl_typesupport_cpp::get_service_type_support_handle<S>(),
                    name, qos, options) {}

  /// Runs an instance: takes the oldest request, if there is one, and calls `work(request, id)`.
  /// Throws Error, and the exceptions of `work`.
  template <typename F>
  executor::Outcome take_and(InstanceInfo& info, const F& work) {
    Request request;
    rmw_request_id_t id{};
    if (!this->take(&request, id, info)) {
      return executor::Outcome::kEmpty;
    }
    const detail::UserCode user_code(*this, info);
    work(std::as_const(request), id);
    return executor::Outcome::kRan;
  }
};

namespace detail {

template <typename S, typename F>
class ServiceOf final : public Service<S> {
 public:
  ServiceOf(std::shared_ptr<NodeHandle> node, const std::string& name, const QoS& qos,
            const CallbackOptions& options, F function)
      : Service<S>(std::move(node), name, qos, options), function_(std::move(function)) {}

 protected:
  executor::Outcome run(InstanceInfo& info) override {
    return this->take_and(info, [&](const S::Request& request, rmw_request_id_t& id) {
      typename S::Response response;
      call(function_, info, request, response);
      this->respond(id, &response);
    });
  }

 private:
  F function_;
};

}  // namespace detail

}  // namespace rclrt
