// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/wait_set_executor.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine.hpp"
#include "kinds/kind.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/thread.hpp"
#include "timer_release.hpp"

namespace rclrt::executor {

namespace {

/// Spreads `value` over all numbers (splitmix64).
std::uint64_t scrambled(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

/// Returns the position of `type` in the order in which rclcpp checks the entities of a wait set,
/// not counting timers.
int turn_of(EntityType type, bool clients_first) {
  switch (type) {
    case EntityType::kTimer:
    case EntityType::kSubscription:
      return 0;
    case EntityType::kService:
      return clients_first ? 2 : 1;
    case EntityType::kClient:
      return clients_first ? 1 : 2;
    case EntityType::kWaitable:
      break;
  }
  return 3;
}

/// Threads that draw from one wait set.
class WaitSetDispatcher final : public Dispatcher {
 public:
  WaitSetDispatcher(const DispatcherContext& context, std::unique_ptr<ReadinessSource> source,
                    WaitSetOptions wait_set)
      : Dispatcher(context, {.maps_levels = false, .polls = true, .max_threads = wait_set.threads}),
        source_(std::move(source)),
        wait_set_(wait_set) {}

  void add(Callback& /*callback*/) override { reload_soon(); }
  void remove(Callback& /*callback*/) noexcept override { reload_soon(); }
  void remove_queued(const Callback& /*callback*/, Instance*& /*taken*/) noexcept override {}
  /// Returns the priority at which all threads run.
  int kernel_priority(int /*level*/) const noexcept override {
    return context().options.top_priority - 1;
  }

  WorkerPool pool_of(const Callback& /*callback*/) const override {
    return {.threads = wait_set_.threads};
  }
  std::string stall_advice() const override {
    return "let it have more threads (WaitSetOptions::threads), or give one of the two an executor "
           "of its own.";
  }
  void start() override;
  void stop() noexcept override;
  void wake() noexcept RCLRT_NONBLOCKING override {
    // The baseline waits in a middleware. Waking it takes a lock for a moment.
    RCLRT_TRUST("offers no more than its middleware does", source_->wake());
  }

  Instance* take_on_caller(std::int64_t /*ready_by_ns*/,
                           std::int64_t& /*next_release_ns*/) noexcept override {
    return nullptr;  // not offered
  }

 private:
  struct Work {
    Callback* callback = nullptr;  // pinned, and inside its group
    std::int64_t release_ns = 0;
    std::int64_t ready_ns = 0;
  };

  void reload_soon() noexcept;
  void watch(CallbackSet::Callbacks callbacks) noexcept;
  void run(std::uint32_t slot);
  // With draw_ locked:
  bool take_next(Work& work);
  bool take_ready(Work& work);
  bool take_timer(Work& work);
  bool take_other(std::size_t from, std::size_t to, Work& work);
  bool is_empty() const;
  void await_group();
  void poll();
  void reload();

  const std::unique_ptr<ReadinessSource> source_;
  const WaitSetOptions wait_set_;
  std::atomic<bool> changed_{true};  // seq_cst; set before the source is woken
  // Set by `reload`, and pinned; guarded by the configuration.
  CallbackSet::Callbacks watched_;
  std::vector<realtime::Thread> threads_;

  realtime::PiMutex draw_;              // guards the following: the state at the last polling point
  std::vector<TimerCallback*> timers_;  // in the stated order
  std::vector<Callback*> others_;       // by type, then in that order
  std::size_t before_timers_ = 0;       // the number of others_ that come before the timers
  std::vector<bool> due_;               // the set: elements of timers_
  std::vector<bool> ready_;             // and elements of others_
  std::vector<bool> asked_;
  std::int64_t polled_ns_ = 0;
  bool polled_ = false;  // in this spin
};

/// Pins the watched callbacks, because the source and the threads access them.
void WaitSetDispatcher::watch(CallbackSet::Callbacks callbacks) noexcept {
  for (const auto& callback : callbacks) {
    state_of(*callback).pin();
  }
  watched_.swap(callbacks);
  for (const auto& callback : callbacks) {
    state_of(*callback).unpin();
  }
}

void WaitSetDispatcher::reload_soon() noexcept {
  changed_.store(true);
  source_->wake();
}

/// Applies the additions and removals since the last polling point.
void WaitSetDispatcher::reload() {
  const std::scoped_lock lock(context().callbacks.mutex());
  timers_.clear();
  others_.clear();
  watch(context().callbacks.locked());
  auto ordered = watched_;
  if (wait_set_.order == WaitSetOrder::kArbitrary) {
    std::map<const Callback*, std::uint64_t> place;
    for (const auto& callback : watched_) {
      place[callback.get()] = scrambled(wait_set_.seed + scrambled(place.size()));
    }
    std::sort(ordered.begin(), ordered.end(),
              [&](const auto& a, const auto& b) { return place[a.get()] < place[b.get()]; });
  }
  for (const auto& callback : ordered) {
    if (TimerCallback* const timer = as_timer(*callback)) {
      timers_.push_back(timer);
    } else {
      others_.push_back(callback.get());
    }
  }
  std::ranges::stable_sort(others_, {}, [this](const Callback* each) {
    return turn_of(each->type(), wait_set_.subscriptions_first);
  });
  before_timers_ =
      wait_set_.subscriptions_first
          ? static_cast<std::size_t>(std::ranges::count(
                others_, EntityType::kSubscription, [](const auto* each) { return each->type(); }))
          : 0;
  source_->watch(others_);
  due_.assign(timers_.size(), false);
  ready_.assign(others_.size(), false);
  asked_.assign(others_.size(), false);
}

void WaitSetDispatcher::start() {
  changed_.store(true);
  polled_ = false;
  threads_.reserve(wait_set_.threads);
  for (std::uint32_t slot = 0; slot < wait_set_.threads; ++slot) {
    const std::string name = wait_set_.threads == 1 ? "ws" : "ws" + std::to_string(slot);
    threads_.emplace_back(context().threads.thread_options(name, thread_priority(0)), [this, slot] {
      context().spin.await_start();
      try {
        run(slot);
      } catch (...) {
        context().spin.fail();
      }
    });
  }
}

void WaitSetDispatcher::run(std::uint32_t slot) {
  for (;;) {
    Work work;
    {
      const std::scoped_lock lock(draw_);
      if (!take_next(work)) {
        return;
      }
    }
    Callback& callback = *work.callback;
    context().runner.execute_polled(callback, work.release_ns, work.ready_ns, slot);
    group_of(callback).leave();
    if (wait_set_.threads > 1 && group_of(callback).type() == GroupType::kMutuallyExclusive) {
      source_->wake();
    }
    state_of(callback).unpin();
  }
}

bool WaitSetDispatcher::take_next(Work& work) {
  while (!context().spin.stopping()) {
    if (take_ready(work)) {
      return true;
    }
    // With kReadyNow the deadline is 0, so it has always passed.
    if (context().spin.limit() != SpinLimit::kNone && polled_ &&
        realtime::monotonic_now_ns() >= context().spin.deadline_ns()) {
      if (is_empty()) {
        context().spin.cancel();
        return false;
      }
      await_group();  // polling with a deadline that has passed would not sleep
      continue;
    }
    poll();
  }
  return false;
}

/// Takes an instance of the current set, and no other: the processing window.
bool WaitSetDispatcher::take_ready(Work& work) {
  return take_other(0, before_timers_, work) || take_timer(work) ||
         take_other(before_timers_, others_.size(), work);
}

bool WaitSetDispatcher::take_timer(Work& work) {
  for (std::size_t i = 0; i < timers_.size(); ++i) {
    if (due_[i] && group_of(*timers_[i]).try_enter()) {
      due_[i] = false;
      const auto release =
          take_release(*timers_[i], realtime::monotonic_now_ns(), OverrunPolicy::kSkip);
      work = {timers_[i], release.nominal_ns, release.nominal_ns};
      state_of(*work.callback).pin();
      return true;
    }
  }
  return false;
}

bool WaitSetDispatcher::take_other(std::size_t from, std::size_t to, Work& work) {
  for (std::size_t i = from; i < to; ++i) {
    if (ready_[i] && group_of(*others_[i]).try_enter()) {
      ready_[i] = false;
      work = {others_[i], polled_ns_, 0};
      state_of(*work.callback).pin();
      return true;
    }
  }
  return false;
}

bool WaitSetDispatcher::is_empty() const {
  const auto is_set = [](bool each) { return each; };
  return std::none_of(due_.begin(), due_.end(), is_set) &&
         std::none_of(ready_.begin(), ready_.end(), is_set);
}

/// Waits until any thread has ended the run of a callback of an exclusive group. Called when no
/// entity of the ready set can run, because callbacks of their groups run on other threads.
void WaitSetDispatcher::await_group() {
  asked_.assign(others_.size(), false);
  std::vector<bool> none(others_.size());
  source_->wait(realtime::EventCount::kForever, asked_, none);
}

/// Checks which entities are ready: the polling point.
void WaitSetDispatcher::poll() {
  if (changed_.exchange(false)) {
    reload();
  }
  std::int64_t next_ns = realtime::EventCount::kForever;
  for (TimerCallback* const timer : timers_) {
    if (!group_of(*timer).busy()) {
      next_ns = std::min(next_ns, schedule_of(*timer).next_ns());
    }
  }
  for (std::size_t i = 0; i < others_.size(); ++i) {
    asked_[i] = !group_of(*others_[i]).busy();
  }
  if (context().spin.limit() == SpinLimit::kReadyNow) {
    next_ns = std::min(next_ns, realtime::monotonic_now_ns());
  } else if (context().spin.limit() == SpinLimit::kOne) {
    next_ns = std::min(next_ns, context().spin.deadline_ns());
  }
  source_->wait(next_ns, asked_, ready_);
  polled_ = true;
  polled_ns_ = realtime::monotonic_now_ns();
  for (std::size_t i = 0; i < timers_.size(); ++i) {
    due_[i] = schedule_of(*timers_[i]).next_ns() <= polled_ns_;
  }
}

void WaitSetDispatcher::stop() noexcept {
  threads_.clear();  // joins them
  // The rest of the set will be found again; until then its callbacks may be removed.
  timers_.clear();
  others_.clear();
  before_timers_ = 0;
  due_.clear();
  ready_.clear();
  const std::scoped_lock lock(context().callbacks.mutex());
  watch({});
}

WaitSetOptions checked(WaitSetOptions wait_set) {
  if (wait_set.threads == 0) {
    throw std::invalid_argument(
        "a wait set executor needs at least one thread; set WaitSetOptions::threads");
  }
  if (wait_set.threads > 1 && wait_set.subscriptions_first) {
    throw std::invalid_argument(
        "subscriptions_first is the order of StaticSingleThreadedExecutor, which has one thread: "
        "leave out subscriptions_first or threads");
  }
  return wait_set;
}

std::unique_ptr<Executor> make_wait_set(KindArguments arguments) {
  if (!arguments.make_source) {
    throw std::invalid_argument("executor \"" + arguments.options.name +
                                "\": a wait set executor needs a ReadinessSource, not nullptr");
  }
  return std::make_unique<WaitSetExecutor>(std::move(arguments.options), arguments.make_source(),
                                           arguments.kind_options.wait_set);
}

}  // namespace

WaitSetExecutor::WaitSetExecutor(ExecutorOptions options, std::unique_ptr<ReadinessSource> source,
                                 WaitSetOptions wait_set)
    : Executor(Engine::with<WaitSetDispatcher>(std::move(options), std::move(source),
                                               checked(wait_set))),
      wait_set_(wait_set) {}

constinit const Kind kinds::kWaitSet{"wait_set", &make_wait_set};

}  // namespace rclrt::executor
