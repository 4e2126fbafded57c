// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <std_msgs/msg/int64.hpp>
#include <std_msgs/msg/string.hpp>
#include <vector>

#include "cases.hpp"
#include "conduct.hpp"
#include "observer.hpp"
#include "rclrt/rclrt.hpp"
#include "rclrt/realtime/stop_flag.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::bench {

namespace {

using Message = std_msgs::msg::Int64;

void await_match(const PublisherBase& publisher, const Setting& setting) {
  while (publisher.get_subscription_count() == 0 && setting.context->ok()) {
    realtime::sleep_until_ns(realtime::monotonic_now_ns() + kPeriod_ns);
  }
}

void publish_from_a_thread(const Setting& setting, bool intra_process, Row* dispatch,
                           Row& publish) {
  Observer observe_dispatch(setting.samples);
  Observer observe_publish(setting.samples);
  CallbackOptions options = setting.callback(1);
  options.intra_process = intra_process;
  Node node(setting.context, "bench");
  const auto publisher = node.create_publisher<Message>("bench", 10);
  node.create_subscription<Message>(
      "bench", 10,
      [&](const Message& received, const InstanceInfo& info) {
        observe_dispatch(info.start_ns - info.ready_ns);
        observe_publish(info.start_ns - received.data);
      },
      options);
  Contender contender(setting.executor, setting.context, setting.cpus);
  contender.add_node(node);
  await_match(*publisher, setting);
  Message message;
  const auto publish_now = [&](std::size_t) {
    message.data = realtime::monotonic_now_ns();
    publisher->publish(message);
  };
  conduct(contender, setting, at_1_khz(setting, publish_now),
          {&observe_publish, &observe_dispatch});
  observe_publish.report(publish);
  publish.lost += setting.samples - observe_publish.kept();
  if (dispatch != nullptr) {
    observe_dispatch.report(*dispatch);
    dispatch->lost += setting.samples - observe_dispatch.kept();
  }
}

}  // namespace

void measure_publish(const Setting& setting, Row& dispatch, Row& publish) {
  publish_from_a_thread(setting, false, &dispatch, publish);
}

void measure_intra_process(const Setting& setting, Row& row) {
  publish_from_a_thread(setting, true, nullptr, row);
}

void measure_publish_in_callback(const Setting& setting, Row& row) {
  Observer observe(setting.samples);
  Node node(setting.context, "bench");
  const auto publisher = node.create_publisher<Message>("bench", 10);
  Message message;
  node.create_wall_timer(std::chrono::nanoseconds(kPeriod_ns), [&] {
    message.data = realtime::monotonic_now_ns();
    publisher->publish(message);
  });
  node.create_subscription<Message>(
      "bench", 10,
      [&](const Message& received, const InstanceInfo& info) {
        observe(info.start_ns - received.data);
      },
      setting.callback(1));
  Contender contender(setting.executor, setting.context, setting.cpus);
  contender.add_node(node);
  await_match(*publisher, setting);
  conduct(contender, setting, at_1_khz(setting), {&observe});
  observe.report(row);
}

void measure_saturated(const Setting& setting, Row& row) {
  constexpr std::int64_t kLate_ns = 20 * kPeriod_ns;
  const std::int64_t duration_ns = static_cast<std::int64_t>(setting.samples) * kPeriod_ns;
  Observer observe(1);
  Node node(setting.context, "bench");
  const auto publisher = node.create_publisher<Message>("bench", 10);
  std::atomic<std::uint64_t> handled{0};
  node.create_subscription<Message>(
      "bench", 10,
      [&](const Message&) {
        handled.fetch_add(1);
        observe(0);
      },
      setting.callback(1));
  Contender contender(setting.executor, setting.context, setting.cpus);
  contender.add_node(node);
  await_match(*publisher, setting);
  Message message;
  const auto publish = [&](std::size_t) {
    if (!observe.is_open()) {
      publisher->publish(message);
      return;
    }
    const Costs before = read_costs();
    const std::uint64_t handled_before = handled.load();
    const std::int64_t start = realtime::monotonic_now_ns();
    std::uint64_t sent = 0;
    while (realtime::monotonic_now_ns() < start + duration_ns && publisher->publish(message)) {
      ++sent;
    }
    const std::uint64_t in_time = handled.load() - handled_before;
    const Costs after = read_costs();
    row.handling_ns += realtime::monotonic_now_ns() - start;
    row.handled += in_time;
    row.dispatches += in_time;
    row.cpu_ns += after.cpu_ns - before.cpu_ns;
    row.allocations += after.allocations - before.allocations;
    // Queued messages are late, not lost.
    realtime::sleep_until_ns(realtime::monotonic_now_ns() + kLate_ns);
    row.lost += sent - (handled.load() - handled_before);
  };
  conduct(contender, setting, {.warm_up = setting.warm_up, .samples = 1, .act = publish},
          {&observe});
}

void measure_first(const Setting& setting, Row& first, Row& next) {
  constexpr std::size_t kFirst = 5;
  constexpr std::ptrdiff_t kDigits = 20;
  constexpr std::int64_t kLimit_ns = 10'000'000'000;
  constexpr std::chrono::nanoseconds kPeriod{kPeriod_ns / 2};
  const std::size_t wanted = kFirst + 10 * setting.samples;
  std::vector<std::int64_t> latencies_ns;
  latencies_ns.reserve(wanted);
  Node node(setting.context, "bench");
  const auto publisher = node.create_publisher<std_msgs::msg::String>("bench", 10);
  std_msgs::msg::String message;
  message.data.assign(10'000, 'x');
  node.create_wall_timer(kPeriod, [&](const InstanceInfo& info) {
    // As text: a string with a zero byte ends there for the middleware.
    std::to_chars(message.data.data(), message.data.data() + kDigits, info.release_ns);
    publisher->publish(message);
  });
  Contender contender(setting.executor, setting.context, setting.cpus);
  node.create_subscription<std_msgs::msg::String>(
      "bench", 10,
      [&](const std_msgs::msg::String& received, const InstanceInfo& info) {
        std::int64_t release_ns = 0;
        std::from_chars(received.data.data(), received.data.data() + kDigits, release_ns);
        if (latencies_ns.size() < wanted) {
          latencies_ns.push_back(info.start_ns - release_ns);
        }
        if (latencies_ns.size() == wanted) {
          contender.cancel();
        }
      },
      setting.callback(1));
  contender.add_node(node);
  await_match(*publisher, setting);
  contender.prepare();
  const realtime::Thread limit({.name = "limit"}, [&](const realtime::StopFlag& stop) {
    const std::int64_t end_ns = realtime::monotonic_now_ns() + kLimit_ns;
    while (setting.context->ok() && realtime::monotonic_now_ns() < end_ns) {
      if (stop.wait_until(realtime::monotonic_now_ns() + 50 * kPeriod_ns)) {
        return;
      }
    }
    contender.cancel();
  });
  contender.spin();
  const auto middle =
      latencies_ns.begin() + static_cast<std::ptrdiff_t>(std::min(kFirst, latencies_ns.size()));
  first.latency.append({latencies_ns.begin(), middle});
  next.latency.append({middle, latencies_ns.end()});
}

}  // namespace rclrt::bench
