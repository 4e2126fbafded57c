// SPDX-License-Identifier: Apache-2.0
#include "timers.hpp"

#include <rcl/time.h>
#include <rcl/timer.h>

#include <algorithm>
#include <utility>

#include "listener_slot.hpp"
#include "rclrt_rclcpp/compat.hpp"

namespace rclrt_rclcpp {

namespace {

using engine::InstanceInfo;
using engine::Outcome;

constexpr std::int64_t kNever = INT64_MAX;

/// Returns the next call time of a timer, as rcl has it, on the timer's own clock. kNever: the
/// timer is cancelled, or does not exist any more.
std::int64_t next_call_ns(const rclcpp::TimerBase::SharedPtr& timer) noexcept {
  std::int64_t next_ns = kNever;
  if (timer &&
      rcl_timer_get_next_call_time(timer->get_timer_handle().get(), &next_ns) != RCL_RET_OK) {
    rcl_reset_error();
    return kNever;
  }
  return next_ns;
}

/// Returns whether it is neither cancelled nor gone; `kept` gets it.
bool is_scheduled(const std::weak_ptr<rclcpp::TimerBase>& weak,
                  std::vector<std::shared_ptr<void>>& kept) {
  const auto timer = weak.lock();
  kept.push_back(timer);
  return next_call_ns(timer) != kNever;
}

/// Returns whether its clock is simulated: it advances only by messages.
bool is_simulated(const rclcpp::TimerBase::SharedPtr& timer) noexcept {
  rcl_clock_t* clock = nullptr;
  bool enabled = false;
  const bool known = rcl_timer_clock(const_cast<rcl_timer_t*>(timer->get_timer_handle().get()),
                                     &clock) == RCL_RET_OK &&
                     clock->type == RCL_ROS_TIME &&
                     rcl_is_enabled_ros_time_override(clock, &enabled) == RCL_RET_OK;
  return known && enabled;
}

/// Listens for resets of a timer. rclcpp's own function for resets can be removed only under
/// rclcpp's lock. But rcl_action resets the timer of an action server without that lock, on the
/// thread on which a goal ends. So rcl gets a function that it may call for ever, and at the end
/// only the pointer to the listener is removed: see ListenerSlot.
class Resets {
 public:
  /// Starts to listen. Throws rclcpp::exceptions::RCLError.
  void begin(const rclcpp::TimerBase::SharedPtr& timer, WorkListener& listener) {
    timer->clear_on_reset_callback();  // of a rclcpp executor that has not released it
    set(*timer, slot_.open(listener));
  }
  void end(const rclcpp::TimerBase::SharedPtr& timer) {
    if (timer) {
      set(*timer, nullptr);
    }
    slot_.close();
  }

 private:
  static void set(rclcpp::TimerBase& timer, const void* slot) {
    if (const rcl_ret_t ret = rcl_timer_set_on_reset_callback(timer.get_timer_handle().get(),
                                                              &ListenerSlot::notify, slot);
        ret != RCL_RET_OK) {
      rclcpp::exceptions::throw_from_rcl_error(ret, "cannot listen for the resets of a timer");
    }
  }

  ListenerSlot slot_;
};

/// Runs the timer if it is due. Returns false if it was cancelled or reset after its release.
template <typename Running, typename Self>
bool call(rclcpp::TimerBase& timer, Self& self, InstanceInfo& info) {
  if (!timer.is_ready()) {
    return false;
  }
  const std::shared_ptr<void> data = timer.call();  // moves on to the next release
  if (!data) {
    return false;
  }
  const Running running(self, info, Origin{info.release_ns, true},
                        Running::Begins::kUnlessItSamples);
  timer.execute_callback(data);
  return true;
}

}  // namespace

std::int64_t overdue_ns(const rclcpp::TimerBase::SharedPtr& timer) noexcept {
  std::int64_t left_ns = 0;
  if (rcl_timer_get_time_until_next_call(timer->get_timer_handle().get(), &left_ns) != RCL_RET_OK) {
    rcl_reset_error();
    return 0;
  }
  return std::max<std::int64_t>(-left_ns, 0);
}

std::int64_t period_ns(const rclcpp::TimerBase::SharedPtr& timer) {
  std::int64_t result = 0;
  if (rcl_timer_get_period(timer->get_timer_handle().get(), &result) != RCL_RET_OK) {
    rclcpp::exceptions::throw_from_rcl_error(RCL_RET_ERROR, "the period of a timer");
  }
  // In rcl a timer without a period is always due; here it gets the shortest sensible period.
  return std::max<std::int64_t>(result, 1'000);
}

namespace {

/// A timer on CLOCK_MONOTONIC, which is rcl's steady clock. The engine releases it at the same
/// times as rcl would: both skip missed releases. If the timer is cancelled, it leaves the engine's
/// queue. If it is reset, its next release is at rcl's next call time.
class SteadyTimerCallback final : public engine::TimerCallback,
                                  public Listener,
                                  private WorkListener {
 public:
  SteadyTimerCallback(const rclcpp::TimerBase::SharedPtr& timer,
                      const engine::CallbackOptions& options, Changes& changes,
                      engine::Executor& engine)
      : TimerCallback(options, {.period_ns = rclrt_rclcpp::period_ns(timer),
                                .offset_ns = 0,
                                .overrun = engine::OverrunPolicy::kSkip}),
        Listener(changes),
        timer_(timer),
        engine_(engine) {}

  std::int64_t first_release_ns(std::int64_t /*epoch_ns*/) const noexcept override {
    const std::int64_t next_ns = next_call_ns(timer_.lock());
    scheduled_ns_.store(next_ns);
    return next_ns;
  }

  void listen() override {
    if (const auto timer = timer_.lock()) {
      resets_.begin(timer, *this);
      on_new_work(
          1);  // rcl writes the function first, and then the pointer: a reset may have been missed
    }
  }
  void unlisten() override { resets_.end(timer_.lock()); }
  bool goes_on(Kept& kept) const override { return is_scheduled(timer_, kept); }

 private:
  Outcome run(InstanceInfo& info) override {
    const auto timer = timer_.lock();
    if (timer && call<Running>(*timer, *this, info)) {
      return Outcome::kRan;
    }
    engine_.restart(*this);
    return timer ? Outcome::kEmpty : gone();
  }

  /// Does not set the same time again: its release would be counted twice.
  void on_new_work(std::size_t /*count*/) noexcept override {
    if (next_call_ns(timer_.lock()) != scheduled_ns_.load()) {
      engine_.restart(*this);
    }
  }

  const std::weak_ptr<rclcpp::TimerBase> timer_;
  engine::Executor& engine_;
  mutable std::atomic<std::int64_t> scheduled_ns_{kNever};  // last time given to the engine
  Resets resets_;
};

}  // namespace

/// A timer on a clock that may jump: ClockTimers releases it.
class ClockTimerCallback final : public engine::NotifiedCallback,
                                 public Listener,
                                 private WorkListener,
                                 public std::enable_shared_from_this<ClockTimerCallback> {
 public:
  ClockTimerCallback(const rclcpp::TimerBase::SharedPtr& timer,
                     const engine::CallbackOptions& options, Changes& changes, ClockTimers& clocks)
      : NotifiedCallback(options), Listener(changes), timer_(timer), clocks_(clocks) {}

  void listen() override {
    if (const auto timer = timer_.lock()) {
      resets_.begin(timer, *this);
      clocks_.add(shared_from_this(), compat::clock_of(*timer));
    }
  }
  void unlisten() override {
    clocks_.remove(this);
    resets_.end(timer_.lock());
  }

  bool goes_on(Kept& kept) const override { return is_scheduled(timer_, kept); }

  /// Releases the timer if it is due, once for each due time. Returns the nanoseconds until the
  /// next release. kNever: the timer has none until it is reset, which wakes the thread.
  std::int64_t release_if_due(std::vector<std::shared_ptr<void>>& kept) noexcept {
    const auto timer = timer_.lock();
    kept.push_back(timer);  // it must not end here, with a lock held
    const std::int64_t next_ns = next_call_ns(timer);
    std::int64_t left_ns = kNever;
    if (next_ns == kNever || released_for_ns_.load() == next_ns ||
        rcl_timer_get_time_until_next_call(timer->get_timer_handle().get(), &left_ns) !=
            RCL_RET_OK) {
      rcl_reset_error();
      return kNever;  // the end of its run, or a reset, wakes the thread
    }
    if (left_ns <= 0) {
      released_for_ns_.store(next_ns);
      notify_once();
      return kNever;
    }
    return is_simulated(timer) ? kNever : left_ns;
  }

 private:
  void attach() override { start_listening(); }
  void detach() noexcept override { stop_listening(); }

  Outcome run(InstanceInfo& info) override {
    struct Wake {
      ClockTimerCallback& self;
      ~Wake() {
        // The same release time may become due again, because the clock may have been set back. If
        // not, an extra release finds nothing to do.
        self.released_for_ns_.store(INT64_MIN);
        self.clocks_.wake();
      }
    } const wake{*this};
    const auto timer = timer_.lock();
    if (!timer) {
      return gone();
    }
    return call<Running>(*timer, *this, info) ? Outcome::kRan : Outcome::kEmpty;
  }

  void on_new_work(std::size_t /*count*/) noexcept override { clocks_.wake(); }

  const std::weak_ptr<rclcpp::TimerBase> timer_;
  ClockTimers& clocks_;
  Resets resets_;
  std::atomic<std::int64_t> released_for_ns_{INT64_MIN};
};

Bound bind(const rclcpp::TimerBase::SharedPtr& timer, engine::CallbackOptions options,
           Changes& changes, engine::Executor& engine, ClockTimers& clocks) {
  options.credits = 1;
  if (timer->is_steady()) {
    options.type = engine::EntityType::kTimer;
    const auto made = std::make_shared<SteadyTimerCallback>(timer, options, changes, engine);
    return {made, made};
  }
  options.type = engine::EntityType::kWaitable;  // the engine's own timers are steady
  // rcl skips the missed periods of such a timer, and is asked for the next release only after the
  // run. So at most one instance waits.
  options.overload = engine::Overload::kQueue;
  const auto made = std::make_shared<ClockTimerCallback>(timer, options, changes, clocks);
  return {made, made};
}

ClockTimers::~ClockTimers() {
  stop_.store(true);
  bell_.notify_all();
  thread_.join();
}

void ClockTimers::add(const std::shared_ptr<ClockTimerCallback>& timer,
                      const rclcpp::Clock::SharedPtr& clock) {
  rclcpp::JumpHandler::SharedPtr jumps;
  if (clock && clock->get_clock_type() == RCL_ROS_TIME) {
    rcl_jump_threshold_t any{};
    any.on_clock_change = true;
    any.min_forward.nanoseconds = 1;
    any.min_backward.nanoseconds = -1;
    jumps = clock->create_jump_callback(nullptr, [this](const auto&) { wake(); }, any);
  }
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::find_if(clocks_.begin(), clocks_.end(),
                                    [&](const Clock& each) { return each.clock.lock() == clock; });
    Clock& entry = found != clocks_.end() ? *found : clocks_.emplace_back();
    if (!entry.jumps) {
      entry.clock = clock;
      entry.jumps = std::move(jumps);
    }
    entry.reports_jumps = clock != nullptr;
    entry.timers.push_back(timer);
  }
  start();
  wake();
}

void ClockTimers::remove(const ClockTimerCallback* timer) noexcept {
  std::vector<Clock> gone;  // their jump handlers take rclcpp's locks when they end
  const std::scoped_lock lock(mutex_);
  for (auto clock = clocks_.begin(); clock != clocks_.end();) {
    std::erase_if(clock->timers, [&](const auto& each) {
      const auto alive = each.lock();
      return !alive || alive.get() == timer;
    });
    if (clock->timers.empty()) {
      gone.push_back(std::move(*clock));
      clock = clocks_.erase(clock);
    } else {
      ++clock;
    }
  }
}

void ClockTimers::start() {
  const std::scoped_lock lock(mutex_);
  if (thread_.joinable()) {
    return;
  }
  rclrt::realtime::ThreadOptions options{.name = engine_.options().name + " clocks"};
  options.scheduling.cpus = engine_.options().cpus;
  if (engine_.realtime()) {
    options.scheduling.policy = rclrt::realtime::Policy::kFifo;
    options.scheduling.priority = engine_.options().top_priority;
  }
  thread_ = rclrt::realtime::Thread(options, [this] { run(); });
}

void ClockTimers::run() {
  while (!stop_.load()) {
    const auto key = bell_.prepare_wait();
    std::int64_t left_ns = 1'000'000'000;  // the opening of the gate wakes the thread
    if (const rclrt::realtime::QuiescenceGuard::Inside inside(gate_); inside.allowed()) {
      left_ns = release_due();
    }
    if (stop_.load()) {
      bell_.cancel_wait();
      return;
    }
    bell_.wait_until(key, rclrt::realtime::monotonic_now_ns() + left_ns);
  }
}

/// Releases the timers that are due, and returns how long the thread may sleep, in nanoseconds.
/// With simulated time, a jump of the clock wakes the thread. If there are no notifications of
/// jumps, the thread checks each millisecond.
std::int64_t ClockTimers::release_due() noexcept {
  constexpr std::int64_t kCheck_ns = 100'000'000;
  constexpr std::int64_t kOften_ns = 1'000'000;
  std::int64_t least_ns = kCheck_ns;
  std::vector<std::shared_ptr<void>> kept;  // until the lock is free
  const std::scoped_lock lock(mutex_);
  for (const Clock& clock : clocks_) {
    least_ns = std::min(least_ns, clock.reports_jumps ? kCheck_ns : kOften_ns);
    for (const auto& timer : clock.timers) {
      if (const auto alive = timer.lock()) {
        least_ns = std::min(least_ns, alive->release_if_due(kept));
      }
    }
  }
  return least_ns;
}

}  // namespace rclrt_rclcpp
