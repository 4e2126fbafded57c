// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM for contexts that want them.
#pragma once

#include <memory>

namespace rclrt {

class Context;

namespace detail {
/// Makes a signal shut `context` down from now on, as long as the context lives. Thread-safe.
void shut_down_on_signal(const std::shared_ptr<Context>& context);

/// Undoes shut_down_on_signal() when `context` is shut down or destroyed. When the last context is
/// gone, the signals get back the handlers that they had before. Thread-safe.
void forget_on_signal(const Context* context);
}  // namespace detail

}  // namespace rclrt
