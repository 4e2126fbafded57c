// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/static_order_executor.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "engine.hpp"
#include "kinds/kind.hpp"
#include "rclrt/realtime/thread.hpp"
#include "run_to_completion.hpp"
#include "static_order_queue.hpp"
#include "worker_priority.hpp"

namespace rclrt::executor {

namespace {

/// One thread over the queue.
class StaticOrderDispatcher final : public Dispatcher {
 public:
  StaticOrderDispatcher(const DispatcherContext& context, StaticOrderOptions options)
      : Dispatcher(context, {.maps_levels = false,
                             .reads_ahead = options.logical_execution_time,
                             .max_threads = 1}),
        queue_(context.spin.caller_wakeup(), std::move(options.trigger)) {}

  void add(Callback& callback) override { queue_.add(callback, context().callbacks); }
  void remove(Callback& callback) noexcept override { queue_.remove(callback); }
  void remove_queued(const Callback& callback, Instance*& taken) noexcept override {
    queue_.remove_queued(callback, taken);
  }
  bool holds_back() noexcept override { return queue_.holds_back(); }

  void start() override {
    const int kernel_priority = thread_priority(0);
    thread_ = realtime::Thread(context().threads.thread_options("run", kernel_priority),
                               [this, kernel_priority] {
                                 context().spin.await_start();
                                 run({.slot = 0, .priority = kernel_priority});
                               });
  }
  void stop() noexcept override {
    realtime::Thread ending;  // joined without the lock, because a callback may wait for it
    const std::scoped_lock lock(context().callbacks.mutex());
    std::swap(ending, thread_);
  }
  void wake() noexcept RCLRT_NONBLOCKING override { queue_.wake(); }

  Instance* take_on_caller(std::int64_t ready_by_ns,
                           std::int64_t& next_release_ns) noexcept override {
    return queue_.take_on_caller(ready_by_ns, next_release_ns);
  }

 private:
  /// Runs sets until the spin stops. A set of which the messages were taken is completed before the
  /// thread ends, because taken messages cannot be given back.
  void run(const InstanceRunner::Worker& worker) noexcept {
    const bool reads_ahead = traits().reads_ahead;
    WorkerPriority priority;
    while (queue_.await_set(context().spin.stop_flag())) {
      if (reads_ahead) {
        queue_.read_set(context().runner);
      }
      while (reads_ahead || !context().spin.stopping()) {
        StaticOrderQueue::Member member = queue_.take();
        if (member.instance == nullptr) {
          break;
        }
        if (member.was_read) {
          context().runner.execute_read(member.instance, member.info, worker, priority);
        } else {
          context().runner.execute(member.instance, worker, priority);
        }
      }
    }
  }

  StaticOrderQueue queue_;
  realtime::Thread thread_;  // guarded by the configuration
};

StaticOrderOptions checked(StaticOrderOptions options) {
  if (!options.trigger) {
    throw std::invalid_argument(
        "static_order needs a trigger, not nullptr; leave out the argument to use trigger_any()");
  }
  return options;
}

class Any final : public StaticOrderTrigger {
 public:
  bool holds(std::span<const CallbackReadiness> /*callbacks*/) const noexcept
      RCLRT_NONBLOCKING override {
    return true;
  }
};

class All final : public StaticOrderTrigger {
 public:
  bool holds(std::span<const CallbackReadiness> callbacks) const noexcept
      RCLRT_NONBLOCKING override {
    return std::ranges::all_of(callbacks, [](const CallbackReadiness& each) {
      const EntityType type = each.callback->type();
      return each.ready || (type != EntityType::kTimer && type != EntityType::kSubscription);
    });
  }
};

class One final : public StaticOrderTrigger {
 public:
  explicit One(std::string name) : name_(std::move(name)) {}
  bool holds(std::span<const CallbackReadiness> callbacks) const noexcept
      RCLRT_NONBLOCKING override {
    return std::ranges::any_of(callbacks, [this](const CallbackReadiness& each) {
      return each.ready && each.callback->name() == name_;
    });
  }

 private:
  const std::string name_;
};

}  // namespace

std::shared_ptr<const StaticOrderTrigger> trigger_any() {
  static const auto kAny = std::make_shared<const Any>();
  return kAny;
}

std::shared_ptr<const StaticOrderTrigger> trigger_all() {
  static const auto kAll = std::make_shared<const All>();
  return kAll;
}

std::shared_ptr<const StaticOrderTrigger> trigger_one(std::string name) {
  return std::make_shared<One>(std::move(name));
}

StaticOrderExecutor::StaticOrderExecutor(ExecutorOptions options, StaticOrderOptions static_order)
    : Executor(Engine::with<StaticOrderDispatcher>(
          on_one_thread(std::move(options), "static_order"), checked(std::move(static_order)))) {}

constinit const Kind kinds::kStaticOrder{
    "static_order", &make_kind_with<StaticOrderExecutor, &KindOptions::static_order>};

}  // namespace rclrt::executor
