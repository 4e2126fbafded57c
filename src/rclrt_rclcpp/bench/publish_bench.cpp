// SPDX-License-Identifier: Apache-2.0
// The cost of publishing for a control loop's thread: rclcpp's publish beside RealtimePublisher, in
// turn. Each 1 ms, one message is published that a subscription of the process receives.
//
//   rclrt_rclcpp_publish_bench [MESSAGES]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/float64_multi_array.hpp>
#include <thread>
#include <vector>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt_rclcpp/realtime_publisher.hpp"

namespace {

using rclrt::realtime::monotonic_now_ns;
using std_msgs::msg::Float64MultiArray;

constexpr std::size_t kJoints = 16;

double at_us(const std::vector<std::int64_t>& sorted_ns, double share) {
  const auto index = static_cast<std::size_t>(static_cast<double>(sorted_ns.size() - 1) * share);
  return static_cast<double>(sorted_ns[index]) / 1e3;
}

void print(const char* name, std::vector<std::int64_t> times_ns) {
  std::ranges::sort(times_ns);
  std::printf("%-28s %9.2f %9.2f %9.2f\n", name, at_us(times_ns, 0.5), at_us(times_ns, 0.99),
              at_us(times_ns, 1.0));
}

}  // namespace

int main(int argc, char** argv) {
  const long messages = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 5000;
  if (messages < 1 || messages > 10'000'000) {
    std::fprintf(stderr, "usage: rclrt_rclcpp_publish_bench [MESSAGES]\n");
    return 2;
  }
  rclcpp::init(0, nullptr);
  const auto node = std::make_shared<rclcpp::Node>("publish_bench");
  const auto subscription =
      node->create_subscription<Float64MultiArray>("joints", 10, [](const Float64MultiArray&) {});
  const auto publisher = node->create_publisher<Float64MultiArray>("joints", 10);
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  std::thread spinning([&] { executor.spin(); });
  while (publisher->get_subscription_count() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  Float64MultiArray message;
  message.data.resize(kJoints);
  const bool realtime = !rclrt::realtime::why_no_realtime(80);
  const auto policy = realtime ? rclrt::realtime::Policy::kFifo : rclrt::realtime::Policy::kOther;
  std::vector<std::int64_t> direct_ns;
  std::vector<std::int64_t> handed_over_ns;
  {
    rclrt_rclcpp::RealtimePublisher<Float64MultiArray> handing(
        publisher, {.scheduling = {.policy = policy, .priority = realtime ? 30 : 0}}, message);
    rclrt::realtime::Thread loop(
        {.name = "loop", .scheduling = {.policy = policy, .priority = realtime ? 80 : 0}}, [&] {
          for (long i = 0; i < messages; ++i) {
            rclrt::realtime::sleep_until_ns(monotonic_now_ns() + 1'000'000);
            std::int64_t begin_ns = monotonic_now_ns();
            message.data[0] = static_cast<double>(i);
            publisher->publish(message);
            direct_ns.push_back(monotonic_now_ns() - begin_ns);
            rclrt::realtime::sleep_until_ns(monotonic_now_ns() + 1'000'000);
            begin_ns = monotonic_now_ns();
            if (auto loan = handing.borrow()) {
              loan->data[0] = static_cast<double>(i);
              loan.publish();
            }
            handed_over_ns.push_back(monotonic_now_ns() - begin_ns);
          }
        });
    loop.join();
    std::printf("%ld messages each, SCHED_%s, %llu without room\n", messages,
                realtime ? "FIFO 80" : "OTHER", static_cast<unsigned long long>(handing.dropped()));
  }
  std::printf("%-28s %9s %9s %9s\n", "us on the loop's thread", "median", "p99", "max");
  print("rclcpp::Publisher::publish", std::move(direct_ns));
  print("RealtimePublisher", std::move(handed_over_ns));
  executor.cancel();
  spinning.join();
  rclcpp::shutdown();
}
