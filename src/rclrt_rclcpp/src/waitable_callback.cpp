// SPDX-License-Identifier: Apache-2.0
// Waitables: actions, QoS events, intra-process subscriptions, and those of users.
#include <rcl/timer.h>
#include <rcl/wait.h>

#include <array>
#include <atomic>
#include <climits>
#include <functional>
#include <utility>
#include <vector>

#include "compat.hpp"
#include "entity_callback.hpp"
#include "left_behind.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/recorder/instance_log.hpp"

namespace rclrt_rclcpp {

namespace {

using engine::InstanceInfo;
using engine::Outcome;

/// Where it matters (see compat.hpp), the timers that the waitable waits for.
std::vector<const rcl_timer_t*> timers_within(rclcpp::Waitable& waitable) {
  if (!compat::kForgetsItsTimers || waitable.get_number_of_ready_timers() == 0) {
    return {};
  }
  // Nobody tells of them but a wait set. The context is the one that rclcpp_action takes, too.
  struct WaitSet {
    rcl_wait_set_t set = rcl_get_zero_initialized_wait_set();
    ~WaitSet() {
      if (rcl_wait_set_fini(&set) != RCL_RET_OK) {
        rcl_reset_error();
      }
    }
  } wait;
  const auto context = rclcpp::contexts::get_global_default_context()->get_rcl_context();
  if (rcl_wait_set_init(
          &wait.set, waitable.get_number_of_ready_subscriptions(),
          waitable.get_number_of_ready_guard_conditions(), waitable.get_number_of_ready_timers(),
          waitable.get_number_of_ready_clients(), waitable.get_number_of_ready_services(),
          waitable.get_number_of_ready_events(), context.get(),
          rcl_get_default_allocator()) != RCL_RET_OK) {
    rcl_reset_error();  // the context has been shut down
    return {};
  }
  waitable.add_to_wait_set(wait.set);
  std::vector<const rcl_timer_t*> timers(wait.set.timers,
                                         wait.set.timers + wait.set.size_of_timers);
  std::erase(timers, nullptr);
  return timers;
}

/// Its resets. rcl reads function and argument one after the other, and without a lock, while
/// another thread resets it: so neither becomes a null pointer, and each goes with the other's
/// counterpart, which is what rclcpp_action sets: a trampoline and a std::function.
void tell_nobody(const rcl_timer_t* timer) noexcept {
  static const auto& nobody = *new std::function<void(std::size_t)>([](std::size_t) {});
  if (rcl_timer_set_on_reset_callback(
          timer, [](const void*, std::size_t) {}, &nobody) != RCL_RET_OK) {
    rcl_reset_error();
  }
}

/// A waitable tells which of its entities is ready, and wants to hear it again when that is taken.
/// An instance carries no number; so events are counted by entity, and an instance takes one.
///
/// Invariant: while an event is counted, an instance is pending or runs. Whoever counts one
/// releases an instance afterwards; if there is no credit, one is pending that will look; and the
/// last one that runs looks before it ends (see `run`). So no event is lost, however many come at
/// once.
class WaitableCallback final : public engine::NotifiedCallback,
                               public Listener,
                               public std::enable_shared_from_this<WaitableCallback> {
 public:
  static constexpr std::size_t kCredits = 16;

  WaitableCallback(const rclcpp::Waitable::SharedPtr& waitable,
                   const engine::CallbackOptions& options, Changes& changes)
      : NotifiedCallback(options), Listener(changes), waitable_(waitable) {}

  void listen() override {
    if (const auto waitable = waitable_.lock()) {
      waitable->set_on_ready_callback([self = shared_from_this()](std::size_t count, int entity) {
        self->count(count, entity);
      });
      timers_ = timers_within(*waitable);
      for (const auto& [entity, count] : LeftBehind::instance().take(waitable_)) {
        this->count(count, entity);
      }
    }
  }
  void unlisten() override {
    if (const auto waitable = waitable_.lock()) {
      for (const rcl_timer_t* const timer : timers_) {
        tell_nobody(timer);
      }
      if (!timers_.empty()) {
        await_others();  // they may be calling what the next line takes away
      }
      waitable->clear_on_ready_callback();
    }
  }
  void leave_rest() override {
    take_left_behind();
    take_untold();
    for (Events& each : events_) {
      LeftBehind::instance().keep(waitable_, each.entity.load(), each.count.exchange(0));
    }
  }

 private:
  /// Events of one entity of the waitable.
  struct Events {
    std::atomic<int> entity{kUnused};
    std::atomic<std::size_t> count{0};
  };
  static constexpr int kUnused = INT_MIN;

  void attach() override { start_listening(); }
  void detach() noexcept override { stop_listening(); }

  void count(std::size_t count, int entity) {
    Events* const events = events_of(entity);
    if (events == nullptr) {
      RCLCPP_ERROR(rclcpp::get_logger("rclrt_rclcpp"),
                   "%s: a waitable with more than %zu entities is not supported; an event of "
                   "entity %d is lost",
                   name().c_str(), events_.size(), entity);
      return;
    }
    events->count.fetch_add(count);  // seq_cst, as all here: see the class
    tell(count);
  }

  /// Found, or claimed from the first that is unused; an entity keeps its place for good.
  Events* events_of(int entity) noexcept {
    for (Events& each : events_) {
      int of = each.entity.load();
      if (of == kUnused && each.entity.compare_exchange_strong(of, entity)) {
        return &each;
      }
      if (of == entity) {
        return &each;
      }
    }
    return nullptr;
  }

  /// Takes one event off; nullptr when there is none. In turn, so none starves another.
  Events* take_one() noexcept {
    const std::size_t first = next_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      Events& each = events_[(first + i) % events_.size()];
      std::size_t count = each.count.load();
      while (count > 0) {
        if (each.count.compare_exchange_weak(count, count - 1)) {
          next_.store(first + i + 1, std::memory_order_relaxed);  // only fairness depends on it
          return &each;
        }
      }
    }
    return nullptr;
  }

  bool has_more() const noexcept {
    for (const Events& each : events_) {
      if (each.count.load() > 0) {
        return true;
      }
    }
    return false;
  }

  /// Waits for those that run it on other threads; not for long, as one may be waiting for us.
  void await_others() const noexcept {
    const std::size_t own = t_runs == this ? 1 : 0;
    const std::int64_t limit_ns = rclrt::realtime::monotonic_now_ns() + 100'000'000;
    while (running_.load() > own && rclrt::realtime::monotonic_now_ns() < limit_ns) {
      rclrt::realtime::sleep_until_ns(rclrt::realtime::monotonic_now_ns() + 50'000);
    }
  }

  Outcome run(InstanceInfo& info) override {
    const auto waitable = waitable_.lock();
    if (!waitable) {
      return gone();
    }
    running_.fetch_add(1);
    struct Rest {
      WaitableCallback& self;
      const WaitableCallback* const outer = std::exchange(t_runs, &self);
      ~Rest() {
        t_runs = outer;
        // Those that run are pending still, in a reentrant group several.
        if (self.counters().pending() <= self.running_.load() && self.has_more()) {
          self.announce(1);
        }
        self.running_.fetch_sub(1);
      }
    } const rest{*this};  // also when user code throws
    const Events* const events = take_one();
    if (events == nullptr) {
      return Outcome::kEmpty;
    }
    const auto data =
        waitable->take_data_by_entity_id(static_cast<std::size_t>(events->entity.load()));
    if (number() != engine::kNoNumber) {
      // Within the process a message is announced while it is published.
      rclrt::recorder::InstanceLog::set_published(info.ready_ns);
    }
    const Running running(*this, info);
    waitable->execute(data);
    return Outcome::kRan;
  }

  static inline thread_local const WaitableCallback* t_runs = nullptr;  // on this thread

  const std::weak_ptr<rclcpp::Waitable> waitable_;
  std::vector<const rcl_timer_t*> timers_;  // the waitable's
  std::array<Events, 32> events_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> running_{0};
};

}  // namespace

Bound bind(const rclcpp::Waitable::SharedPtr& waitable, engine::CallbackOptions options,
           Changes& changes) {
  options.type = engine::EntityType::kWaitable;
  options.credits = WaitableCallback::kCredits;
  options.overload = engine::Overload::kQueue;
  const auto made = std::make_shared<WaitableCallback>(waitable, options, changes);
  return {made, made};
}

}  // namespace rclrt_rclcpp
