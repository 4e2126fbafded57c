// SPDX-License-Identifier: Apache-2.0
#include "bare.hpp"

#include <linux/futex.h>
#include <rcl/graph.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include "by_hand.hpp"
#include "observer.hpp"
#include "rclrt/realtime/atomics.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::bench {

namespace {

using realtime::monotonic_now_ns;
using realtime::sleep_until_ns;

constexpr std::chrono::seconds kDiscovery{20};

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr,
                 nullptr, 0);
}

[[noreturn]] void throw_nothing_to_take(const std::string& what) {
  throw std::runtime_error(what +
                           " was not there to take: is the delivery inside a process switched off "
                           "in the middleware's profile?");
}

/// Wakes a thread with the priority of an executor's callbacks at 1 kHz by a bare futex, as often
/// as `setting` states, and opens `observe` when the warm-up is over. `before` runs in the thread
/// that wakes, `after` in the one that was woken; `after` returns whether it found what `before`
/// sent. Throws std::runtime_error if it did not.
template <typename Before, typename After>
void wake_at_1_khz(const Setting& setting, Observer& observe, Before before, After after) {
  const auto count = static_cast<std::uint32_t>(setting.warm_up + setting.samples);
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::uint32_t> seen{0};
  std::atomic<bool> there{true};
  realtime::Thread waiter({.name = "waiter", .scheduling = setting.urgent()}, [&] {
    for (std::uint32_t wakes = 0; wakes < count; ++wakes) {
      if (wakes == setting.warm_up) {
        observe.open();
      }
      while (word.load() == wakes) {
        futex(word, FUTEX_WAIT_PRIVATE, wakes);
      }
      if (!after()) {
        there.store(false);
      }
      seen.store(wakes + 1);
    }
  });
  realtime::Thread({.name = "waker", .scheduling = setting.stimulus()}, [&] {
    std::int64_t next = monotonic_now_ns();
    for (std::uint32_t wakes = 0; wakes < count; ++wakes) {
      do {  // a waiter at normal priority may still handle the last one
        next += kPeriod_ns;
        sleep_until_ns(next);
      } while (seen.load() != wakes);
      before();
      word.store(wakes + 1);
      futex(word, FUTEX_WAKE_PRIVATE, 1);
    }
  }).join();
  waiter.join();
  if (!there.load() && setting.context->ok()) {
    throw_nothing_to_take("a message or a request");
  }
}

/// Measures how late `sleep_until` lets a thread go that has the priority of an executor's
/// callbacks and a period of 1 ms.
template <typename SleepUntil>
void measure_sleep(const Setting& setting, Row& row, SleepUntil sleep_until) {
  Observer observe(setting.samples);
  realtime::Thread({.name = "sleeper", .scheduling = setting.urgent()}, [&] {
    std::int64_t next = monotonic_now_ns();
    for (std::size_t i = 0; i < setting.warm_up + setting.samples; ++i) {
      if (i == setting.warm_up) {
        observe.open();
      }
      next += kPeriod_ns;
      sleep_until(next);
      observe(monotonic_now_ns() - next);
    }
  }).join();
  observe.report(row);
}

/// Runs a thread that calls `once` at 1 kHz, as often as `setting` states, and `begin` once when
/// the warm-up is over. `once` takes a message and returns whether there was one. Throws
/// std::runtime_error, with `what` in its message, if `once` returned false.
template <typename Begin, typename Once>
void take_at_1_khz(const Setting& setting, const std::string& what, Begin begin, Once once) {
  bool there = true;
  realtime::Thread({.name = "inline", .scheduling = setting.stimulus()}, [&] {
    std::int64_t next = monotonic_now_ns();
    for (std::size_t i = 0; i < setting.warm_up + setting.samples && there; ++i) {
      next += kPeriod_ns;
      sleep_until_ns(next);
      if (i == setting.warm_up) {
        begin();
      }
      there = once();
    }
  }).join();
  if (!there && setting.context->ok()) {
    throw_nothing_to_take(what);
  }
}

/// A publisher and a subscription of the same topic, matched.
struct Pair {
  explicit Pair(const Setting& setting)
      : node(setting.context, "bare"),
        publisher(node.create_publisher<Message>("bare", 10)),
        subscription(node.handle(), "bare") {
    while (publisher->get_subscription_count() == 0 && setting.context->ok()) {
      sleep_until_ns(monotonic_now_ns() + kPeriod_ns);
    }
  }
  Node node;
  std::shared_ptr<Publisher<Message>> publisher;
  SubscriptionByHand subscription;
};

/// A listener of the middleware that stores the time of the latest announcement.
void store_time(const void* at_ns, std::size_t /*count*/) {
  *static_cast<std::int64_t*>(const_cast<void*>(at_ns)) = monotonic_now_ns();
}

/// Sets the listener of the pair's subscription, or removes it: nullptr.
void listen(Pair& pair, rcl_event_callback_t listener, std::int64_t& announced_ns) {
  detail::check(rcl_subscription_set_on_new_message_callback(&pair.subscription.rcl(), listener,
                                                             &announced_ns),
                "listening to the benchmark's topic");
}

/// A service and its client in one node, of rcl alone: an entity of ours has a listener of its own.
class BareService {
 public:
  explicit BareService(const Setting& setting) : node_(setting.context, "bare") {
    const rcl_service_options_t service_options = rcl_service_get_default_options();
    detail::check(
        rcl_service_init(&service_, &node_.handle()->node, type_, "bare_service", &service_options),
        "creating the benchmark's service");
    const rcl_client_options_t client_options = rcl_client_get_default_options();
    detail::check(
        rcl_client_init(&client_, &node_.handle()->node, type_, "bare_service", &client_options),
        "creating the benchmark's client");
    detail::check(rcl_service_set_on_new_request_callback(&service_, store_time, &request_at_ns),
                  "listening to requests");
    detail::check(rcl_client_set_on_new_response_callback(&client_, store_time, &response_at_ns),
                  "listening to responses");
    bool ready = false;
    while (!ready && setting.context->ok()) {
      detail::check(rcl_service_server_is_available(&node_.handle()->node, &client_, &ready),
                    "looking for the benchmark's service");
      sleep_until_ns(monotonic_now_ns() + kPeriod_ns);
    }
  }
  ~BareService() {
    detail::report(rcl_client_fini(&client_, &node_.handle()->node), "ending a client");
    detail::report(rcl_service_fini(&service_, &node_.handle()->node), "ending a service");
  }
  BareService(const BareService&) = delete;
  BareService& operator=(const BareService&) = delete;

  void ask() {
    const Empty::Request request;
    std::int64_t number = 0;
    detail::check(rcl_send_request(&client_, &request, &number), "sending a request");
  }
  bool take_request() {
    Empty::Request request;
    return rcl_take_request(&service_, &id_, &request) == RCL_RET_OK;
  }
  void answer() {
    Empty::Response response;
    detail::check(rcl_send_response(&service_, &id_, &response), "sending a response");
  }
  bool take_response() {
    rmw_request_id_t id{};
    Empty::Response response;
    return rcl_take_response(&client_, &id, &response) == RCL_RET_OK;
  }

  std::int64_t request_at_ns = 0;   ///< the latest announcement of a request
  std::int64_t response_at_ns = 0;  ///< that of a response

 private:
  const rosidl_service_type_support_t* type_ =
      rosidl_typesupport_cpp::get_service_type_support_handle<Empty>();
  Node node_;
  rcl_service_t service_ = rcl_get_zero_initialized_service();
  rcl_client_t client_ = rcl_get_zero_initialized_client();
  rmw_request_id_t id_{};
};

}  // namespace

void measure_nanosleep(const Setting& setting, Row& row) {
  measure_sleep(setting, row, [](std::int64_t until_ns) { sleep_until_ns(until_ns); });
}

void measure_futex_timeout(const Setting& setting, Row& row) {
  const realtime::StdAtomics::Futex word{0};
  measure_sleep(setting, row, [&](std::int64_t until_ns) {
    while (monotonic_now_ns() < until_ns) {
      realtime::StdAtomics::wait_while(word, 0, until_ns);
    }
  });
}

void measure_futex_wake(const Setting& setting, Row& row) {
  Observer observe(setting.samples);
  std::atomic<std::int64_t> woken_at{0};
  wake_at_1_khz(
      setting, observe, [&] { woken_at.store(monotonic_now_ns()); },
      [&] {
        observe(monotonic_now_ns() - woken_at.load());
        return true;
      });
  observe.report(row);
}

void measure_wake_take(const Setting& setting, Row& row) {
  Pair pair(setting);
  Observer observe(setting.samples);
  std::int64_t announced_ns = 0;
  listen(pair, store_time, announced_ns);
  Message sent;
  Message received;
  wake_at_1_khz(
      setting, observe, [&] { pair.publisher->publish(sent); },
      [&] {
        const bool there = pair.subscription.take_now(received);
        observe(monotonic_now_ns() - announced_ns);
        return there;
      });
  listen(pair, nullptr, announced_ns);
  observe.report(row);
}

void measure_wake_take_request(const Setting& setting, Row& row) {
  BareService service(setting);
  Observer observe(setting.samples);
  wake_at_1_khz(
      setting, observe, [&] { service.ask(); },
      [&] {
        const bool there = service.take_request();
        observe(monotonic_now_ns() - service.request_at_ns);
        service.answer();
        return there && service.take_response();
      });
  observe.report(row);
}

void measure_publish_take(const Setting& setting, Row& publish, Row& take) {
  Pair pair(setting);
  Observer observe(setting.samples);
  Observer observe_take(setting.samples);
  Message sent;
  Message received;
  const auto begin = [&] {
    observe.open();
    observe_take.open();
  };
  take_at_1_khz(setting, "a published message", begin, [&] {
    sent.data = monotonic_now_ns();
    pair.publisher->publish(sent);
    const std::int64_t published_ns = monotonic_now_ns();
    const bool there = pair.subscription.take_now(received);
    const std::int64_t now = monotonic_now_ns();
    observe(now - received.data);
    observe_take(now - published_ns);
    return there;
  });
  observe.report(publish);
  observe_take.report(take);
}

void measure_rest_of_publish(const Setting& setting, Row& row) {
  Pair pair(setting);
  Observer observe(setting.samples);
  Message message;
  std::int64_t announced_ns = 0;
  listen(pair, store_time, announced_ns);
  take_at_1_khz(
      setting, "a published message", [&] { observe.open(); },
      [&] {
        pair.publisher->publish(message);
        observe(monotonic_now_ns() - announced_ns);
        return pair.subscription.take_now(message);
      });
  listen(pair, nullptr, announced_ns);
  observe.report(row);
}

void measure_request_take(const Setting& setting, Row& request, Row& response) {
  Node node(setting.context, "bare");
  ServiceByHand service(node.handle(), "bare_service");
  ClientByHand client(node.handle(), "bare_service");
  if (!client.wait_for_service(kDiscovery)) {
    return;  // interrupted
  }
  Observer observe_request(setting.samples);
  Observer observe_response(setting.samples);
  rmw_request_id_t id{};
  const auto begin = [&] {
    observe_request.open();
    observe_response.open();
  };
  take_at_1_khz(setting, "a request or its response", begin, [&] {
    client.send_now();
    const std::int64_t sent_ns = monotonic_now_ns();
    if (!service.take_now(id)) {
      return false;
    }
    observe_request(monotonic_now_ns() - sent_ns);
    service.respond_now(id);
    const std::int64_t answered_ns = monotonic_now_ns();
    const bool there = client.take_now();
    observe_response(monotonic_now_ns() - answered_ns);
    return there;
  });
  observe_request.report(request);
  observe_response.report(response);
}

void measure_rest_of_request(const Setting& setting, Row& request, Row& response) {
  BareService service(setting);
  Observer observe_request(setting.samples);
  Observer observe_response(setting.samples);
  const auto begin = [&] {
    observe_request.open();
    observe_response.open();
  };
  take_at_1_khz(setting, "a request or its response", begin, [&] {
    service.ask();
    observe_request(monotonic_now_ns() - service.request_at_ns);
    if (!service.take_request()) {
      return false;
    }
    service.answer();
    observe_response(monotonic_now_ns() - service.response_at_ns);
    return service.take_response();
  });
  observe_request.report(request);
  observe_response.report(response);
}

void measure_saturated_inline(const Setting& setting, Row& row) {
  Pair pair(setting);
  realtime::Thread({.name = "inline", .scheduling = setting.stimulus()}, [&] {
    Message message;
    const Costs before = read_costs();
    const std::int64_t start = monotonic_now_ns();
    const std::int64_t end = start + static_cast<std::int64_t>(setting.samples) * kPeriod_ns;
    std::uint64_t handled = 0;
    while (monotonic_now_ns() < end && pair.publisher->publish(message)) {
      handled += pair.subscription.take_now(message) ? 1 : 0;
    }
    row.handling_ns += monotonic_now_ns() - start;
    row.handled += handled;
    row.dispatches += handled;
    row.cpu_ns += read_costs().cpu_ns - before.cpu_ns;
    row.allocations += read_costs().allocations - before.allocations;
  }).join();
}

}  // namespace rclrt::bench
