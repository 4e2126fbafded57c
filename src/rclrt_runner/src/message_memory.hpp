// SPDX-License-Identifier: Apache-2.0
// The memory that the messages and the threads of an application take.
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

/// Stack of a thread that runs only this program's code: publishing, taking and the built-in
/// workloads need less than half of it. All of it is locked into memory.
inline constexpr std::size_t kOwnStack = std::size_t{112} << 10;
/// Stack of a thread that runs a user's program.
inline constexpr std::size_t kImportedStack = std::size_t{1} << 20;

/// Returns the stack size of the threads of one executor, in bytes: kImportedStack if one of its
/// callbacks has a workload that was imported, kOwnStack otherwise.
std::size_t stack_size(const model::Application& application, std::size_t executor);

}  // namespace rclrt::runner
