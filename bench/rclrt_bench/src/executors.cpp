// SPDX-License-Identifier: Apache-2.0
#include "executors.hpp"

#include <chrono>
#include <std_msgs/msg/int64.hpp>

#include "rclrt/rclrt.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::bench {

void measure_timer(const std::string& executor, int cpu, const std::shared_ptr<Context>& context,
                   std::int64_t period_ns, std::size_t count, Samples& into) {
  into.reserve(count);
  Node node(context, "bench");
  const auto spinning = make_executor(executor, context, {.name = "bench", .cpus = {cpu}});
  std::size_t left = count;
  node.create_wall_timer(std::chrono::nanoseconds(period_ns), [&](const InstanceInfo& info) {
    if (left != 0) {
      into.add(info.start_ns - info.release_ns);
      if (--left == 0) {
        spinning->cancel();
      }
    }
  });
  spinning->add_node(node);
  spinning->spin();
}

void measure_publish(const std::string& executor, int cpu, const std::shared_ptr<Context>& context,
                     std::int64_t period_ns, std::size_t count, Samples& into) {
  into.reserve(count);
  Node node(context, "bench");
  const auto spinning = make_executor(executor, context, {.name = "bench", .cpus = {cpu}});
  const auto publisher = node.create_publisher<std_msgs::msg::Int64>("bench", 10);
  std_msgs::msg::Int64 message;
  node.create_wall_timer(std::chrono::nanoseconds(period_ns), [&] {
    message.data = realtime::monotonic_now_ns();
    publisher->publish(message);
  });
  std::size_t left = count;
  node.create_subscription<std_msgs::msg::Int64>(
      "bench", 10,
      [&](const std_msgs::msg::Int64& received, const InstanceInfo& info) {
        if (left != 0) {
          into.add(info.start_ns - received.data);
          if (--left == 0) {
            spinning->cancel();
          }
        }
      },
      {.priority = 1});
  spinning->add_node(node);
  while (publisher->subscription_count() == 0) {
    realtime::sleep_until_ns(realtime::monotonic_now_ns() + 1'000'000);
  }
  spinning->spin();
}

}  // namespace rclrt::bench
