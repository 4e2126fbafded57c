// SPDX-License-Identifier: Apache-2.0
// The tracepoints of the entities that rcl makes for rclrt.
#pragma once

#include <rcl/client.h>
#include <rcl/service.h>
#include <rcl/subscription.h>

#include "rclrt/detail/tracing.hpp"
#include "rclrt/executor/executor.hpp"

namespace rclrt::detail {

/// Traces that the callback belongs to the subscription of the node.
void trace_subscription(const executor::Callback& callback, const NodeHandle& node,
                        const rcl_subscription_t& subscription);
/// Traces that the callback belongs to the service of the node.
void trace_service(const executor::Callback& callback, const NodeHandle& node,
                   const rcl_service_t& service);
/// Traces that the callback handles the responses to the client of the node.
void trace_client(const executor::Callback& callback, const NodeHandle& node);
/// Traces that the callback belongs to a guard condition.
void trace_guard_condition(const executor::Callback& callback);
/// Traces that the executor runs the callback.
void trace_added(const executor::Executor& executor, const executor::Callback& callback);

}  // namespace rclrt::detail
