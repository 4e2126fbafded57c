// SPDX-License-Identifier: Apache-2.0
// How much memory the messages of an application take.
#pragma once

#include <cstddef>
#include <rclrt/model/application.hpp>

namespace rclrt::runner {

/// Depth of the publishers' histories.
inline constexpr std::size_t kPublisherDepth = 10;

/// Returns how many bytes of messages the callbacks of one executor can have in the middleware's
/// histories and in their own storage: as many messages as each publisher and subscription of a
/// stated topic keeps, and one in hand; those of other executors where these callbacks publish it.
/// At most 32 MiB: a thread touches so much before the run.
std::size_t message_memory(const model::Application& application, std::size_t executor);

}  // namespace rclrt::runner
