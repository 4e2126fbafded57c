// SPDX-License-Identifier: Apache-2.0
#include "pong_node.hpp"

#include <pthread.h>

#include <algorithm>

#include "path_qos.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::demos {

using std_msgs::msg::Int32;

namespace {

constexpr clockid_t kNotRunYet = CLOCK_REALTIME;  // the clock of no thread

void burn_cpu_time(Seconds time) {
  const std::int64_t end =
      realtime::thread_cpu_now_ns() + static_cast<std::int64_t>(time.count() * 1e9);
  while (realtime::thread_cpu_now_ns() < end) {
  }
}

}  // namespace

PongNode::Path::Path(Node& node, const std::string& name)
    : work(declare_seconds(node, name + "_busyloop", 0.01)),
      group(node.create_callback_group(CallbackGroupType::kMutuallyExclusive, false)),
      pongs(node.create_publisher<Int32>(name + "_pong", path_qos())),
      thread_clock(kNotRunYet) {
  pings = node.create_subscription<Int32>(
      name + "_ping", path_qos(), [this](const Int32& ping) { answer(ping); }, {.group = group});
}

void PongNode::Path::answer(const Int32& ping) {
  if (thread_clock.load(std::memory_order_relaxed) == kNotRunYet) {
    clockid_t own = kNotRunYet;
    pthread_getcpuclockid(pthread_self(), &own);
    thread_clock.store(own, std::memory_order_relaxed);
  }
  burn_cpu_time(work);
  answered_cpu_ns = realtime::thread_cpu_now_ns();
  pongs->publish(ping);
}

void PongNode::Path::read_cpu_time() {
  const clockid_t clock = thread_clock.load(std::memory_order_relaxed);
  if (clock != kNotRunYet) {
    read_cpu_ns = realtime::read_clock_ns(clock);  // 0 when the thread has ended
  }
}

PongNode::PongNode(const std::shared_ptr<Context>& context)
    : node_(context, "pong_node", "/", {.parameter_services = false}),
      high_(node_, "high"),
      low_(node_, "low") {}

bool PongNode::wait_for_ping_node(std::chrono::nanoseconds timeout) const {
  return node_.wait_for_publishers("high_ping", 1, timeout) &&
         node_.wait_for_publishers("low_ping", 1, timeout) &&
         node_.wait_for_subscribers("high_pong", 1, timeout) &&
         node_.wait_for_subscribers("low_pong", 1, timeout);
}

void PongNode::read_cpu_times() {
  high_.read_cpu_time();
  low_.read_cpu_time();
}

void PongNode::print_statistics() const {
  const auto print = [this](const std::string& title, const Path& path) {
    const std::int64_t cpu_ns = std::max(path.read_cpu_ns, path.answered_cpu_ns);
    print_info(node_, title + " priority executor thread ran for " +
                          std::to_string(cpu_ns / 1'000'000) + "ms.");
  };
  print("High", high_);
  print("Low", low_);
}

}  // namespace rclrt::demos
