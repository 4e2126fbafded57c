// SPDX-License-Identifier: Apache-2.0
#include "on_rclcpp/spin_thread.hpp"

#include <chrono>
#include <utility>

namespace rclrt::demos::on_rclcpp {

namespace {

rclcpp::NodeOptions timer_only() {
  return rclcpp::NodeOptions()
      .enable_rosout(false)
      .start_parameter_services(false)
      .start_parameter_event_publisher(false);
}

}  // namespace

SpinThread::SpinThread(rclcpp::Executor& executor, const realtime::Scheduling& scheduling)
    : executor_(executor), first_node_(std::make_shared<rclcpp::Node>("first", timer_only())) {
  first_timer_ = first_node_->create_wall_timer(std::chrono::milliseconds(1), [this] {
    first_timer_->cancel();
    tell_begun();
  });
  executor_.add_node(first_node_);
  thread_ = realtime::Thread({.name = "spin", .scheduling = scheduling}, [this] { spin(); });
  begun_.wait(false);
}

SpinThread::~SpinThread() {
  executor_.cancel();
  thread_.join();
}

void SpinThread::stop() {
  executor_.cancel();
  thread_.join();
  if (failure_) {
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
}

void SpinThread::spin() noexcept {
  try {
    executor_.spin();
  } catch (...) {
    failure_ = std::current_exception();
  }
  tell_begun();
}

void SpinThread::tell_begun() noexcept {
  begun_.store(true);
  begun_.notify_all();
}

}  // namespace rclrt::demos::on_rclcpp
