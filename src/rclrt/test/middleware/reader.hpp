// SPDX-License-Identifier: Apache-2.0
// A subscription of rcl, a listener that records the thread that called it, and a process that
// publishes and calls from outside.
#pragma once

#include <gtest/gtest.h>
#include <rcl/rcl.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <std_msgs/msg/int64.hpp>
#include <string>

#include "../ros_fixture.hpp"

namespace rclrt::test {

using std_msgs::msg::Int64;

/// The calls of a listener. The middleware calls `on_new`.
struct Heard {
  std::atomic<std::size_t> calls{0};
  std::atomic<std::size_t> messages{0};
  std::atomic<pid_t> thread{0};  ///< of the last call

  static void on_new(const void* self, std::size_t count) {
    auto& heard = *static_cast<Heard*>(const_cast<void*>(self));
    heard.thread = ::gettid();
    heard.messages += count;
    ++heard.calls;
  }
};

/// A message with what the middleware states of it.
struct TakenMessage {
  std::int64_t data = 0;
  rmw_message_info_t info = rmw_get_zero_initialized_message_info();
};

/// A reliable subscription of rcl to `topic`. It has no listener until `listen`.
class Reader {
 public:
  Reader(const Node& node, const std::string& topic);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  rcl_subscription_t* rcl() noexcept { return &subscription_; }
  /// Waits until it is matched with a publisher.
  bool matched() const;
  void listen(Heard& heard);
  /// Waits for a message and takes it.
  TakenMessage take();

 private:
  std::shared_ptr<NodeHandle> node_;
  rcl_subscription_t subscription_ = rcl_get_zero_initialized_subscription();
};

/// Describes a thread of this process: "the publisher's own thread", or its name and the library
/// that started it.
std::string describe_thread(pid_t tid, pid_t publisher = 0);

/// A process that was forked before this one used ROS. From its first command on it has a node
/// with a publisher on "far", a service "far_service" and a client of "near_service".
class Peer {
 public:
  /// Forks. Throws std::system_error if that fails.
  Peer();
  /// Ends the process and waits for its end.
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Lets it publish one message on "far", once it is matched: 1, 2, ...
  void publish() const { tell('p'); }
  /// Lets it send one request to "near_service".
  void call() const { tell('c'); }

 private:
  void tell(char command) const;

  pid_t pid_ = -1;
  int commands_ = -1;
};

/// The peer of this test program, which main() makes.
extern const Peer* only_peer;

}  // namespace rclrt::test
