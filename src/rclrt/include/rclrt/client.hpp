// SPDX-License-Identifier: Apache-2.0
// Service clients.
#pragma once

#include <rcl/client.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <rosidl_typesupport_cpp/service_type_support.hpp>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "rclrt/detail/publish_scope.hpp"
#include "rclrt/detail/tracing.hpp"
#include "rclrt/entity.hpp"
#include "rclrt/export.hpp"
#include "rclrt/qos.hpp"
#include "rclrt/realtime/duration.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/subscription.hpp"

namespace rclrt {

/// An rcl client as an entity of the engine: each response is an instance.
class RCLRT_EXPORT ClientBase : public Entity {
 public:
  /// Makes the client; use Node::create_client.
  RCLRT_SETUP ClientBase(std::shared_ptr<NodeHandle> node,
                         const rosidl_service_type_support_t* type, const std::string& name,
                         const QoS& qos, const CallbackOptions& options);
  ~ClientBase() override;

  /// Returns the name after remapping, with its namespace.
  std::string get_service_name() const;
  /// Returns whether a server of this service is matched now. Thread-safe. Throws Error.
  bool service_is_ready() const;
  /// Waits until a server of the service is found, and checks once a millisecond. Returns true when
  /// it is found. Returns false if `timeout` passes first (negative: no limit) or the context is
  /// shut down. Thread-safe. Throws Error.
  bool wait_for_service(realtime::SaturatingNanoseconds timeout) const RCLRT_WAITS;

  void count_places(WaitSetPlaces& places) const override { ++places.clients; }
  void add_to(rcl_wait_set_t& wait_set) override;
  bool is_ready_in(const rcl_wait_set_t& wait_set) const override;

 protected:
  /// Sends and returns the request's number. The caller has a PublishScope. Throws Error.
  std::int64_t send(const void* request);
  /// Takes the oldest response into `response`, and sets `request` to the number of its request.
  /// Returns false if there is no response. Throws Error.
  bool take(void* response, std::int64_t& request, InstanceInfo& info);

  void attach() override;
  void detach() noexcept override;

 private:
  const std::shared_ptr<NodeHandle> node_;
  rcl_client_t client_;
  std::size_t place_ = 0;  // in the wait set
};

/// The client of a service. Any thread and any callback may send requests. The executor handles
/// responses at the client's priority. Sending a request allocates memory.
///
/// A callback that waits for a response blocks its worker. The wait ends only if the client's
/// callback can run meanwhile: on a free worker, or at another priority under an executor that
/// preempts, and not in the same mutually exclusive group. Under `wait_set` and `events` the wait
/// never ends.
template <typename S>
class Client final : public ClientBase {
  using Handler = std::function<void(const typename S::Response&, const InstanceInfo&)>;
  using Pending = std::unordered_map<std::int64_t, Handler>;

 public:
  using Request = S::Request;
  using Response = S::Response;

  /// Makes the client; use Node::create_client.
  RCLRT_SETUP Client(std::shared_ptr<NodeHandle> node, const std::string& name, const QoS& qos,
                     const CallbackOptions& options)
      : ClientBase(std::move(node), rosidl_typesupport_cpp::get_service_type_support_handle<S>(),
                   name, qos, options) {}

  /// Sends a request, and calls `on_response` when its response has arrived. `on_response` takes
  /// `const Response&`, optionally followed by `const InstanceInfo&`. Returns the request's number.
  /// Throws Error.
  template <typename F>
  std::int64_t async_send_request(const Request& request, F on_response) {
    return send_with(request, [function = std::move(on_response)](
                                  const Response& response, const InstanceInfo& info) mutable {
      detail::call(function, info, response);
    });
  }

  /// A pending response. The name is rclcpp's.
  struct FutureAndRequestId {
    std::future<Response> future;  ///< std::future_error (broken_promise) once the request is
                                   ///< removed or the client has ended
    std::int64_t request_id;
  };
  /// Sends a request and returns the future of its response. Throws Error.
  FutureAndRequestId async_send_request(const Request& request) {
    auto promise = std::make_shared<std::promise<Response>>();
    auto future = promise->get_future();
    const std::int64_t id =
        send_with(request, [promise](const Response& response, const InstanceInfo& /*info*/) {
          promise->set_value(response);
        });
    return {std::move(future), id};
  }

  /// Stops waiting for the response of a request: a late response is ignored. Returns false if the
  /// response has arrived already or the request was never sent. Thread-safe.
  bool remove_pending_request(std::int64_t request_id) {
    typename Pending::node_type removed;  // destroyed unlocked: the handler may use the client
    const std::scoped_lock lock(mutex_);
    removed = pending_.extract(request_id);
    return !removed.empty();
  }
  /// Removes all requests and returns their number. Thread-safe.
  std::size_t prune_pending_requests() {
    Pending removed;  // destroyed unlocked, too
    const std::scoped_lock lock(mutex_);
    removed.swap(pending_);
    return removed.size();
  }

 protected:
  executor::Outcome run(InstanceInfo& info) override {
    Response response;
    std::int64_t request = 0;
    if (!take(&response, request, info)) {
      return executor::Outcome::kEmpty;
    }
    Handler handler;
    {
      const std::scoped_lock lock(mutex_);
      const auto found = pending_.find(request);
      if (found == pending_.end()) {
        return executor::Outcome::kEmpty;  // the request was removed
      }
      handler = std::move(found->second);
      pending_.erase(found);
    }
    const detail::UserCode user_code(*this, info);
    handler(response, info);
    return executor::Outcome::kRan;
  }

 private:
  std::int64_t send_with(const Request& request, Handler handler) {
    // The service of this process starts after the lock was released: a more urgent one would
    // otherwise preempt this thread, and the handler of its response would wait for the lock.
    const detail::PublishScope scope;
    // Held while sending: another process may answer before send() has returned.
    const std::scoped_lock lock(mutex_);
    const std::int64_t id = send(&request);
    pending_.emplace(id, std::move(handler));
    return id;
  }

  realtime::PiMutex mutex_;  // guards pending_
  Pending pending_;
};

}  // namespace rclrt
