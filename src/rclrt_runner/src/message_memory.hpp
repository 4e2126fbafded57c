// SPDX-License-Identifier: Apache-2.0
// The memory that the messages of an application take.
#pragma once

#include <cstddef>
#include <rclrt/model/application.hpp>

namespace rclrt::runner {

/// Depth of the publishers' histories.
inline constexpr std::size_t kPublisherDepth = 10;

/// Returns how much memory the messages of one executor's callbacks can take, in bytes. These are
/// the messages that each publisher and each subscription of a stated topic keeps in the
/// middleware's history, and one in the storage of the callback. A publisher's messages are counted
/// even if only subscriptions of other executors receive them. At most 32 MiB, because a thread
/// touches this memory before the run.
std::size_t message_memory(const model::Application& application, std::size_t executor);

}  // namespace rclrt::runner
