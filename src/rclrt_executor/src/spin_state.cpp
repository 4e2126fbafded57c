// SPDX-License-Identifier: Apache-2.0
#include "spin_state.hpp"

#include <utility>

#include "dispatcher.hpp"

namespace rclrt::executor {

void SpinState::cancel() noexcept RCLRT_NONBLOCKING {
  stop_.store(true);
  if (Dispatcher* const dispatcher = dispatcher_.load()) {
    dispatcher->wake();
  }
  caller_wakeup_.notify_all();
  stopped_.post();
}

void SpinState::fail() noexcept {
  if (!failed_.test_and_set()) {
    error_ = std::current_exception();
  }
  cancel();
}

void SpinState::await_start() noexcept RCLRT_WAITS {
  while (!started_.load()) {
    const auto key = start_.prepare_wait();
    if (started_.load()) {
      start_.cancel_wait();
      break;
    }
    start_.wait(key);
  }
}

void SpinState::finish() {
  const std::exception_ptr error = std::exchange(error_, nullptr);
  failed_.clear();
  stop_.store(false);
  if (error) {
    std::rethrow_exception(error);
  }
}

}  // namespace rclrt::executor
