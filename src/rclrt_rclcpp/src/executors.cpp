// SPDX-License-Identifier: Apache-2.0
#include "rclrt_rclcpp/executors.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "entity_registry.hpp"
#include "rclrt/model/executor_kind.hpp"
#include "rclrt/model/robot.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt_rclcpp/observer.hpp"
#include "stall_log.hpp"

namespace rclrt_rclcpp {

namespace {

using engine::KindOptions;

/// Throws unless the overload policy loses nothing; `why` gives the reason.
void require_queue(const Timing& timing, const std::string& why) {
  if (timing.overload.value_or(engine::Overload::kQueue) != engine::Overload::kQueue) {
    throw std::invalid_argument(why + ": leave `overload` at kQueue");
  }
}

void require_no_age(const Timing& timing) {
  if (timing.max_age) {
    throw std::invalid_argument(
        "set_timing: only a subscription or a timer can have a max_age, because only messages, and "
        "what a timer samples, have an age; use a deadline");
  }
}

/// Throws unless the kind is offered for rclcpp's nodes, with these options of its own.
void require_offered(std::string_view kind, const KindOptions& kind_options) {
  const auto name_of = [](rclrt::model::ExecutorKind each) {
    return rclrt::model::traits(each).name;
  };
  const std::vector<rclrt::model::ExecutorKind> offered = rclrt::model::rclcpp_executor_kinds();
  const auto found = std::ranges::find(offered, kind, name_of);
  if (found == offered.end()) {
    std::string names;
    for (const rclrt::model::ExecutorKind each : offered) {
      names += (names.empty() ? "" : ", ") + std::string(name_of(each));
    }
    throw std::invalid_argument("there is no executor \"" + std::string(kind) +
                                "\" for rclcpp's nodes; choose from " + names);
  }
  if (rclrt::model::traits(*found).runs_sets && kind_options.static_order.logical_execution_time) {
    throw std::invalid_argument(
        "logical execution time is not offered for rclcpp's nodes, because their subscriptions "
        "take their messages when they run");
  }
}

}  // namespace

/// Marks the executor as spinning while this object exists. Only one may exist at a time. A cancel
/// that comes too late for this spin does not end the next one.
class Executor::Spinning {
 public:
  Spinning(Executor& executor, const char* function) : executor_(executor) {
    const std::scoped_lock lock(executor_.mutex_);
    if (executor_.active_) {
      throw std::runtime_error(std::string(function) + " called while already spinning");
    }
    executor_.registry_->begin_spin();
    executor_.registry_->engine().clear_cancel();  // of a shutdown outside a spin
    executor_.active_ = true;
    executor_.spinning.store(true);
  }
  ~Spinning() {
    executor_.registry_->end_spin();  // without the lock: it waits
    const std::scoped_lock lock(executor_.mutex_);
    executor_.active_ = false;
    executor_.spinning.store(false);
    executor_.registry_->engine().clear_cancel();
  }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;

  bool goes_on() const { return executor_.goes_on(); }

 private:
  Executor& executor_;
};

std::unique_ptr<Executor::EntityRegistry> Executor::make_registry(Executor& self,
                                                                  const Options& options,
                                                                  std::string_view kind,
                                                                  const KindOptions& kind_options) {
  require_offered(kind, kind_options);
  engine::ExecutorOptions for_engine = with_stall_log(options.engine);
  std::unique_ptr<ExecutorObserver> observer;
  if (options.recording) {
    observer = options.recording->observe(kind, for_engine, kind_options);
    for_engine.sink = observer.get();
  }
  return std::make_unique<EntityRegistry>(
      options, engine::make_executor(kind, std::move(for_engine), kind_options),
      [&self] {
        self.collector_.update_collections();
        return self.collector_.get_all_callback_groups();
      },
      options.ros.context, std::move(observer));
}

Executor::Executor(const Options& options, std::string_view kind, const KindOptions& kind_options)
    : rclcpp::Executor(options.ros), registry_(make_registry(*this, options, kind, kind_options)) {
  // Triggered when a node or a group gets something new, and at shutdown.
  notify_waitable_->set_on_ready_callback([registry = registry_.get()](std::size_t, int) {
    registry->changes().note();
    if (!rclcpp::ok(registry->context())) {
      registry->engine().cancel();
    }
  });
}

Executor::~Executor() { notify_waitable_->clear_on_ready_callback(); }

/// Returns true unless it is cancelled, shut down, or failed.
bool Executor::goes_on() const {
  return spinning.load() && rclcpp::ok(registry_->context()) && !registry_->failed();
}

void Executor::spin() {
  const Spinning time(*this, "spin()");
  registry_->refresh();
  registry_->rethrow();
  if (time.goes_on()) {
    registry_->engine().spin();
    registry_->rethrow();
  }
}

void Executor::spin_some(std::chrono::nanoseconds max_duration) {
  const Spinning time(*this, "spin_some()");
  registry_->refresh();
  registry_->rethrow();
  registry_->release_due_timers();
  const std::int64_t start_ns = rclrt::realtime::monotonic_now_ns();
  while (time.goes_on() &&
         registry_->engine().run_one_on_caller(std::chrono::nanoseconds(0), start_ns) &&
         (max_duration.count() == 0 ||
          rclrt::realtime::monotonic_now_ns() - start_ns < max_duration.count())) {
  }
  registry_->rethrow();
}

void Executor::spin_all(std::chrono::nanoseconds max_duration) {
  if (max_duration.count() < 0) {
    throw std::invalid_argument("max_duration must be greater than or equal to 0");
  }
  const Spinning time(*this, "spin_all()");
  registry_->refresh();
  registry_->rethrow();
  registry_->release_due_timers();
  const std::int64_t start_ns = rclrt::realtime::monotonic_now_ns();
  while (time.goes_on() && registry_->engine().run_one_on_caller(std::chrono::nanoseconds(0)) &&
         (max_duration.count() == 0 ||
          rclrt::realtime::monotonic_now_ns() - start_ns < max_duration.count())) {
    registry_->refresh_if_noted();
  }
  registry_->rethrow();
}

void Executor::spin_once(std::chrono::nanoseconds timeout) {
  const Spinning time(*this, "spin_once()");
  spin_once_impl(timeout);
}

void Executor::spin_once_impl(std::chrono::nanoseconds timeout) {
  registry_->refresh();
  registry_->rethrow();
  registry_->release_due_timers();
  // An instance may find that there is nothing to run: its timer was cancelled, or a newer message
  // replaced its own. Such an instance does not count as the one callback of spin_once.
  const std::int64_t start_ns = rclrt::realtime::monotonic_now_ns();
  const std::uint64_t runs = Listener::runs_here();
  std::chrono::nanoseconds left = timeout;
  while (goes_on() && registry_->engine().run_one_on_caller(left) &&
         Listener::runs_here() == runs) {
    if (timeout.count() > 0) {
      const std::chrono::nanoseconds spent(rclrt::realtime::monotonic_now_ns() - start_ns);
      left = std::max(timeout - spent, std::chrono::nanoseconds(0));
    }
  }
  registry_->rethrow();
}

rclcpp::FutureReturnCode Executor::spin_until_future_complete_impl(
    std::chrono::nanoseconds timeout,
    const std::function<std::future_status(std::chrono::nanoseconds wait_time)>& wait_for_future) {
  if (wait_for_future(std::chrono::nanoseconds(0)) == std::future_status::ready) {
    return rclcpp::FutureReturnCode::SUCCESS;
  }
  const Spinning time(*this, "spin_until_future_complete()");
  registry_->refresh();
  registry_->rethrow();
  if (!time.goes_on()) {
    return rclcpp::FutureReturnCode::INTERRUPTED;
  }
  struct Future {
    const std::function<std::future_status(std::chrono::nanoseconds)>& wait;
    std::future_status wait_for(std::chrono::nanoseconds time) const { return wait(time); }
  };
  const auto result =
      registry_->engine().spin_until_future_complete(Future{wait_for_future}, timeout);
  registry_->rethrow();
  switch (result) {
    case engine::SpinResult::kComplete:
      return rclcpp::FutureReturnCode::SUCCESS;
    case engine::SpinResult::kTimeout:
      return rclcpp::FutureReturnCode::TIMEOUT;
    default:
      return rclcpp::FutureReturnCode::INTERRUPTED;
  }
}

void Executor::cancel() {
  const std::scoped_lock lock(mutex_);  // against the end of the spin: see Spinning
  spinning.store(false);
  if (active_) {
    registry_->engine().cancel();
  }
}

void Executor::add_node(compat::NodeArgument node, bool /*notify*/) {
  registry_->know_node(node);
  const EntityRegistry::Change change{.make = [&] { collector_.add_node(node); },
                                      .take_back = [&] { collector_.remove_node(node); }};
  registry_->refresh(Wait::kNo, &change);
}

void Executor::remove_node(compat::NodeArgument node, bool /*notify*/) {
  const EntityRegistry::Change change{.make = [&] { collector_.remove_node(node); },
                                      .take_back = {}};
  registry_->refresh(Wait::kUntilNothingRuns, &change);
}

void Executor::add_callback_group(compat::GroupArgument group, compat::NodeArgument node,
                                  bool /*notify*/) {
  registry_->know_node(node);
  const EntityRegistry::Change change{
      .make = [&] { collector_.add_callback_group(group); },
      .take_back = [&] { collector_.remove_callback_group(group); }};
  registry_->refresh(Wait::kNo, &change);
}

void Executor::remove_callback_group(compat::GroupArgument group, bool /*notify*/) {
  const EntityRegistry::Change change{.make = [&] { collector_.remove_callback_group(group); },
                                      .take_back = {}};
  registry_->refresh(Wait::kUntilNothingRuns, &change);
}

void Executor::set_timing(const rclcpp::SubscriptionBase::SharedPtr& subscription,
                          const Timing& timing) {
  registry_->set_timing(subscription, timing);
}
void Executor::set_timing(const rclcpp::TimerBase::SharedPtr& timer, const Timing& timing) {
  if (timing.stamped_by) {
    throw std::invalid_argument("set_timing: stamped_by is for a subscription, not for a timer");
  }
  registry_->set_timing(timer, timing);
}
void Executor::set_timing(const rclcpp::ServiceBase::SharedPtr& service, const Timing& timing) {
  require_no_age(timing);
  require_queue(timing, "a service answers every request");
  registry_->set_timing(service, timing);
}
void Executor::set_timing(const rclcpp::ClientBase::SharedPtr& client, const Timing& timing) {
  require_no_age(timing);
  require_queue(timing, "a client takes every response");
  registry_->set_timing(client, timing);
}
void Executor::set_timing(const rclcpp::Waitable::SharedPtr& waitable, const Timing& timing) {
  require_no_age(timing);
  require_queue(timing, "a waitable takes every event");
  registry_->set_timing(waitable, timing);
}
void Executor::set_timing(const rclcpp::CallbackGroup::SharedPtr& group, const Timing& timing) {
  require_no_age(timing);
  registry_->set_timing(group, timing);
}
void Executor::set_timing(const rclcpp::node_interfaces::NodeBaseInterface::SharedPtr& node,
                          const Timing& timing) {
  require_no_age(timing);
  registry_->set_timing(node, timing);
}

std::vector<CallbackInfo> Executor::callbacks() { return registry_->callbacks(); }

std::vector<std::string> Executor::unmatched(bool with_guess) {
  return registry_->unmatched(with_guess);
}

const engine::Executor& Executor::engine() const noexcept { return registry_->engine(); }

}  // namespace rclrt_rclcpp
