// SPDX-License-Identifier: Apache-2.0
// A service that can answer after its callback has returned.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "rclrt/service.hpp"

namespace rclrt::detail {

/// A service with a callback that takes `const Request&, rmw_request_id_t` and returns no response.
/// The response is sent by `answer`, during the callback or later.
template <typename S>
class AnsweringService : public Service<S> {
 public:
  /// Sends the response to a request. Thread-safe. Throws Error.
  void answer(rmw_request_id_t id, S::Response& response) { this->respond(id, &response); }

 protected:
  using Service<S>::Service;
};

template <typename S, typename F>
class DeferredServiceOf final : public AnsweringService<S> {
 public:
  DeferredServiceOf(std::shared_ptr<NodeHandle> node, const std::string& name, const QoS& qos,
                    const CallbackOptions& options, F function)
      : AnsweringService<S>(std::move(node), name, qos, options), function_(std::move(function)) {}

 protected:
  executor::Outcome run(InstanceInfo& info) override { return this->take_and(info, function_); }

 private:
  F function_;
};

template <typename S, typename F>
std::shared_ptr<AnsweringService<S>> make_deferred_service(std::shared_ptr<NodeHandle> node,
                                                           const std::string& name,
                                                           const CallbackOptions& options,
                                                           F function) {
  return std::make_shared<DeferredServiceOf<S, F>>(std::move(node), name, 10, options,
                                                   std::move(function));
}

}  // namespace rclrt::detail
