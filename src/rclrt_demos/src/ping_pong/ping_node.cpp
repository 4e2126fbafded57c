// SPDX-License-Identifier: Apache-2.0
#include "ping_node.hpp"

#include <cmath>
#include <cstdio>
#include <numeric>

#include "path_qos.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::demos {

using std_msgs::msg::Int32;

namespace {

std::size_t percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : 100 * part / whole;
}

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char text[128];
  std::snprintf(text, sizeof(text), pattern, values...);
  return text;
}

}  // namespace

PingNode::PingNode(const std::shared_ptr<Context>& context)
    : node_(context, "ping_node", "/", {.parameter_services = false}),
      period_(declare_seconds(node_, "ping_period", 0.01)) {
  const auto group = node_.create_callback_group();
  create_path(high_, group);
  create_path(low_, group);
  // As rclcpp's timers: a ping that became due while the CPU was taken is not sent later.
  timer_ = node_.create_wall_timer(std::chrono::duration_cast<std::chrono::nanoseconds>(period_),
                                   [this] { send(); }, {.group = group},
                                   {.overrun = OverrunPolicy::kSkip, .depth = 1});
}

void PingNode::create_path(Path& path, const std::shared_ptr<CallbackGroup>& group) {
  path.pings = node_.create_publisher<Int32>(path.name + "_ping", path_qos());
  path.pongs = node_.create_subscription<Int32>(
      path.name + "_pong", path_qos(),
      [this, &path](const Int32& pong) { on_pong(path, pong.data); }, {.group = group});
}

bool PingNode::wait_for_pong_node(std::chrono::nanoseconds timeout) const {
  return node_.wait_for_subscribers("high_ping", 1, timeout) &&
         node_.wait_for_subscribers("low_ping", 1, timeout) &&
         node_.wait_for_publishers("high_pong", 1, timeout) &&
         node_.wait_for_publishers("low_pong", 1, timeout);
}

void PingNode::send() {
  Int32 ping;
  ping.data = static_cast<std::int32_t>(sent_ns_.size());
  sent_ns_.push_back(realtime::monotonic_now_ns());
  for (Path* const path : {&high_, &low_}) {
    path->answered.push_back(false);
    path->pings->publish(ping);
  }
}

void PingNode::on_pong(Path& path, std::int32_t number) {
  const auto index = static_cast<std::size_t>(number);
  if (number < 0 || index >= sent_ns_.size() || path.answered[index]) {
    return;  // an answer for another ping node
  }
  path.answered[index] = true;
  path.round_trip_s.push_back(static_cast<double>(realtime::monotonic_now_ns() - sent_ns_[index]) *
                              1e-9);
}

void PingNode::print_path(const std::string& title, const Path& path) const {
  const std::vector<double>& times = path.round_trip_s;
  const std::string prefix = title + " prio path: ";
  print_info(node_, prefix + format("Received %zu pongs, i.e. for %zu%% of the pings.",
                                    times.size(), percent(times.size(), sent_ns_.size())));
  if (times.empty()) {
    return;
  }
  const auto count = static_cast<double>(times.size());
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / count;
  const double squares =
      std::accumulate(times.begin(), times.end(), 0.0,
                      [&](double sum, double each) { return sum + (each - mean) * (each - mean); });
  print_info(node_, prefix + format("Average RTT is %.1fms.", mean * 1e3));
  print_info(node_, prefix + format("Jitter of RTT is %.3fms.", std::sqrt(squares / count) * 1e3));
}

void PingNode::print_statistics(Seconds duration) const {
  const auto configured = static_cast<std::size_t>(duration / period_ + 1e-9);
  print_info(node_, format("Both paths: Sent out %zu of configured %zu pings, i.e. %zu%%.",
                           sent_ns_.size(), configured, percent(sent_ns_.size(), configured)));
  print_path("High", high_);
  print_path("Low", low_);
}

}  // namespace rclrt::demos
