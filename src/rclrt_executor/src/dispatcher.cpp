// SPDX-License-Identifier: Apache-2.0
#include "dispatcher.hpp"

#include "thread_settings.hpp"

namespace rclrt::executor {

int Dispatcher::os_priority(int level) const noexcept {
  return context_.threads.os_priority(level);
}

int Dispatcher::thread_priority(int level) const noexcept {
  const ThreadSettings& threads = context_.threads;
  return threads.realtime() && !threads.is_reserved(level) ? os_priority(level) : 0;
}

}  // namespace rclrt::executor
