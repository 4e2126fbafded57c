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
  /// Polls once a millisecond until a server is matched, at most `timeout`, negative: for ever;
  /// false when that has passed first, or the context is shut down. Thread-safe. Throws Error.
  bool wait_for_service(realtime::SaturatingNanoseconds timeout) const RCLRT_WAITS;

  void count_places(WaitSetPlaces& places) const override { ++places.clients; }
  void add_to(rcl_wait_set_t& wait_set) override;
  bool is_ready_in(const rcl_wait_set_t& wait_set) const override;

 protected:
  /// Sends and returns the request's number. Throws Error.
  std::int64_t send(const void* request);
  /// Takes the oldest response and says to which request; false when there is none. Throws Error.
  bool take(void* response, std::int64_t& request, InstanceInfo& info);

  void attach() override;
  void detach() noexcept override;

 private:
  const std::shared_ptr<NodeHandle> node_;
  rcl_client_t client_;
  std::size_t place_ = 0;  // in the wait set
};

/// Sends requests from any thread, callbacks included; responses are handled by the executor at
/// the client's priority. A request allocates. Waiting for a future inside a callback blocks that
/// worker: it ends only if the client's callback can run elsewhere, which means a free worker, or
/// another level where callbacks preempt, and not in the same mutually exclusive group; never under
/// `wait_set` and `events`.
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

  /// Calls `on_response` (taking `const Response&`, optionally followed by `const InstanceInfo&`)
  /// when the response is there. Returns the request's number. Throws Error.
  template <typename F>
  std::int64_t async_send_request(const Request& request, F on_response) {
    return send_with(request, [function = std::move(on_response)](
                                  const Response& response, const InstanceInfo& info) mutable {
      detail::call(function, info, response);
    });
  }

  /// What waits for a response. rclcpp's name.
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

  /// Forgets a request: a late response is ignored. False when it was answered already, or never
  /// sent. Thread-safe.
  bool remove_pending_request(std::int64_t request_id) {
    typename Pending::node_type removed;  // ends unlocked: what a handler owns may use the client
    const std::scoped_lock lock(mutex_);
    removed = pending_.extract(request_id);
    return !removed.empty();
  }
  /// Forgets all; returns how many there were. Thread-safe.
  std::size_t prune_pending_requests() {
    Pending removed;  // ends unlocked, too
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
        return executor::Outcome::kEmpty;  // nobody waits for it any more
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
    // Held while sending: the response may be handled before send() has returned.
    const std::scoped_lock lock(mutex_);
    const std::int64_t id = send(&request);
    pending_.emplace(id, std::move(handler));
    return id;
  }

  realtime::PiMutex mutex_;  // guards pending_
  Pending pending_;
};

}  // namespace rclrt
