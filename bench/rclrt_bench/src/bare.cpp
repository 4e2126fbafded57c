// SPDX-License-Identifier: Apache-2.0
#include "bare.hpp"

#include <linux/futex.h>
#include <rcl/rcl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <std_msgs/msg/int64.hpp>
#include <stdexcept>

#include "rclrt/rclrt.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::bench {

namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr,
                 nullptr, 0);
}

/// A subscription that nobody runs: the benchmark takes from it by hand.
class TakenByHand final : public Subscription<std_msgs::msg::Int64> {
 public:
  TakenByHand(std::shared_ptr<NodeHandle> node, const std::string& topic)
      : Subscription(std::move(node), topic, 10, {}) {}
  bool take_now(std_msgs::msg::Int64& message) {
    InstanceInfo info;
    info.ready_ns = 1;  // nobody asks when it arrived
    return take(&message, info);
  }

 protected:
  executor::Outcome run(InstanceInfo&) override { return executor::Outcome::kEmpty; }
};

}  // namespace

void measure_nanosleep(const Bare& bare, std::int64_t period_ns, std::size_t count, Samples& into) {
  into.reserve(count);
  realtime::Thread({.name = "nanosleep", .scheduling = bare.urgent}, [&] {
    std::int64_t next = realtime::monotonic_now_ns();
    for (std::size_t i = 0; i < count; ++i) {
      next += period_ns;
      realtime::sleep_until_ns(next);
      into.add(realtime::monotonic_now_ns() - next);
    }
  }).join();
}

void measure_futex_wake(const Bare& bare, std::int64_t period_ns, std::size_t count,
                        Samples& into) {
  into.reserve(count);
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::int64_t> woken_at{0};
  std::atomic<std::uint32_t> seen{0};
  realtime::Thread waiter({.name = "waiter", .scheduling = bare.urgent}, [&] {
    for (std::uint32_t wakes = 0; wakes < count; ++wakes) {
      while (word.load() == wakes) {
        futex(word, FUTEX_WAIT_PRIVATE, wakes);
      }
      into.add(realtime::monotonic_now_ns() - woken_at.load());
      seen.store(wakes + 1);
    }
  });
  realtime::Thread({.name = "waker", .scheduling = bare.normal}, [&] {
    std::int64_t next = realtime::monotonic_now_ns();
    for (std::uint32_t wakes = 0; wakes < count; ++wakes) {
      do {  // a waiter at normal priority may still be at the last one
        next += period_ns;
        realtime::sleep_until_ns(next);
      } while (seen.load() != wakes);
      woken_at.store(realtime::monotonic_now_ns());
      word.store(wakes + 1);
      futex(word, FUTEX_WAKE_PRIVATE, 1);
    }
  }).join();
}

void measure_publish_take(const Bare& bare, const std::shared_ptr<Context>& context,
                          std::int64_t period_ns, std::size_t count, Samples& into) {
  into.reserve(count);
  Node node(context, "bare");
  const auto publisher = node.create_publisher<std_msgs::msg::Int64>("bare", 10);
  TakenByHand subscription(node.handle(), "bare");
  while (publisher->subscription_count() == 0) {
    realtime::sleep_until_ns(realtime::monotonic_now_ns() + 1'000'000);
  }
  bool lost = false;
  realtime::Thread({.name = "inline", .scheduling = bare.normal}, [&] {
    std_msgs::msg::Int64 sent;
    std_msgs::msg::Int64 received;
    std::int64_t next = realtime::monotonic_now_ns();
    for (std::size_t i = 0; i < count && !lost; ++i) {
      next += period_ns;
      realtime::sleep_until_ns(next);
      sent.data = realtime::monotonic_now_ns();
      publisher->publish(sent);
      lost = !subscription.take_now(received);
      into.add(realtime::monotonic_now_ns() - received.data);
    }
  }).join();
  if (lost) {
    throw std::runtime_error(
        "a published message was not there to take: is intra-process delivery "
        "of the middleware switched off?");
  }
}

}  // namespace rclrt::bench
