// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM for contexts that want them.
#pragma once

#include <memory>

namespace rclrt {

class Context;

namespace detail {
/// From now on a signal shuts `context` down, as long as it lives. Thread-safe.
void shut_down_on_signal(const std::shared_ptr<Context>& context);

/// `context` is shut down or ends. After the last one signals do what they did before. Thread-safe.
void forget_on_signal(const Context* context);
}  // namespace detail

}  // namespace rclrt
