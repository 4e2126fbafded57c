// SPDX-License-Identifier: Apache-2.0
#include "rclrt_rclcpp/realtime_publisher.hpp"

#include <rcl/context.h>
#include <rcl/publisher.h>

#include <exception>

namespace rclrt_rclcpp {

RealtimePublisherBase::RealtimePublisherBase(const RealtimePublisherOptions& options)
    : options_(options), free_(options.depth), filled_(options.depth) {
  for (std::size_t index = 0; index < options.depth; ++index) {
    free_.try_push(index);
  }
}

void RealtimePublisherBase::start(const std::string& topic) {
  // The thread is named after the end of the topic: the kernel keeps 15 characters of a name, and
  // the end is more specific than the beginning.
  const std::string name = topic.substr(topic.rfind('/') + 1);
  thread_ = rclrt::realtime::Thread({.name = "pub " + name, .scheduling = options_.scheduling},
                                    [this] { run(); });
}

void RealtimePublisherBase::stop() {
  stop_.store(true);
  ready_.post();
  thread_.join();
}

bool RealtimePublisherBase::can_publish(const rclcpp::PublisherBase& publisher) {
  const rcl_context_t* const context =
      rcl_publisher_get_context(publisher.get_publisher_handle().get());
  return context != nullptr && rcl_context_is_valid(context);
}

std::size_t RealtimePublisherBase::take_free() noexcept RCLRT_NONBLOCKING {
  std::size_t index = returned_;
  returned_ = kNone;
  if (index == kNone && !free_.try_pop(index)) {
    dropped_.fetch_add(1, std::memory_order_relaxed);  // statistics only
    return kNone;
  }
  return index;
}

void RealtimePublisherBase::hand_over(std::size_t index) noexcept RCLRT_NONBLOCKING {
  filled_.try_push(index);  // it has room for all messages
  ready_.post();
}

void RealtimePublisherBase::run() {
  while (true) {
    ready_.wait();
    std::size_t index = kNone;
    if (!filled_.try_pop(index)) {
      if (stop_.load()) {
        return;  // the last post is that of `stop`, and everything before it was published
      }
      continue;
    }
    bool sent = false;
    try {
      sent = publish_message(index);
    } catch (const std::exception&) {
      sent = false;  // the middleware refused
    }
    (sent ? published_ : failed_).fetch_add(1, std::memory_order_relaxed);
    free_.try_push(index);
  }
}

}  // namespace rclrt_rclcpp
