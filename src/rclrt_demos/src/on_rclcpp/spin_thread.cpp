// SPDX-License-Identifier: Apache-2.0
#include "on_rclcpp/spin_thread.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace rclrt::demos::on_rclcpp {

SpinThread::SpinThread(rclcpp::Executor& executor, const realtime::Scheduling& scheduling)
    : executor_(executor), thread_({.name = "spin", .scheduling = scheduling}, [this] {
        try {
          executor_.spin();
        } catch (...) {
          failure_ = std::current_exception();
        }
        ended_.store(true);
      }) {}

SpinThread::~SpinThread() { join(); }

void SpinThread::stop() {
  join();
  if (failure_) {
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
}

void SpinThread::join() noexcept {
  // A cancel that comes before the spin has begun is forgotten, so one may not be enough.
  while (thread_.joinable() && !ended_.load()) {
    executor_.cancel();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  thread_.join();
}

}  // namespace rclrt::demos::on_rclcpp
