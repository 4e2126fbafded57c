// SPDX-License-Identifier: Apache-2.0
#include "dispatcher.hpp"

#include "thread_settings.hpp"

namespace rclrt::executor {

std::vector<int> Dispatcher::levels_of(
    const std::vector<std::shared_ptr<Callback>>& callbacks) const {
  std::vector<int> levels;
  for (const auto& callback : callbacks) {
    levels.push_back(callback->level());
  }
  return levels;
}

int Dispatcher::kernel_priority(int level) const noexcept {
  return context_.threads.kernel_priority(level);
}

WorkerPool Dispatcher::pool_of(const Callback& /*callback*/) const { return {}; }

std::string Dispatcher::stall_advice() const {
  return "this kind of executor has one thread: give one of the two an executor of its own.";
}

int Dispatcher::thread_priority(int level) const noexcept {
  const ThreadSettings& threads = context_.threads;
  const bool has_one =
      threads.realtime() && !threads.is_reserved(level) && !threads.is_best_effort(level);
  return has_one ? kernel_priority(level) : 0;
}

}  // namespace rclrt::executor
