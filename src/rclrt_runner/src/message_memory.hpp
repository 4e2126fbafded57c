// SPDX-License-Identifier: Apache-2.0
// The memory that the messages of an application take.
#pragma once

#include <cstddef>
#include <rclrt/model/application.hpp>

namespace rclrt::runner {

/// Depth of the publishers' histories.
inline constexpr std::size_t kPublisherDepth = 10;

/// Returns how many bytes of messages the callbacks of one executor can have in the middleware's
/// histories and in their own storage: the messages that each publisher and subscription of a
/// stated topic keeps, and one in hand. Messages for subscriptions of other executors count if
/// these callbacks publish them. At most 32 MiB, because a thread touches this memory before the
/// run.
std::size_t message_memory(const model::Application& application, std::size_t executor);

}  // namespace rclrt::runner
