// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/model_conversion.hpp"

namespace rclrt::recorder {

namespace {

realtime::Policy to_realtime(model::Policy policy) noexcept {
  switch (policy) {
    case model::Policy::kFifo:
      return realtime::Policy::kFifo;
    case model::Policy::kRoundRobin:
      return realtime::Policy::kRoundRobin;
    case model::Policy::kDeadline:
      return realtime::Policy::kDeadline;
    case model::Policy::kOther:
      break;
  }
  return realtime::Policy::kOther;
}

}  // namespace

executor::Overload to_engine(model::Overload overload) noexcept {
  switch (overload) {
    case model::Overload::kKeepLast:
      return executor::Overload::kKeepLast;
    case model::Overload::kSkipIfRunning:
      return executor::Overload::kSkipIfRunning;
    case model::Overload::kQueue:
      break;
  }
  return executor::Overload::kQueue;
}

executor::OverrunPolicy to_engine(model::OverrunPolicy policy) noexcept {
  switch (policy) {
    case model::OverrunPolicy::kSkip:
      return executor::OverrunPolicy::kSkip;
    case model::OverrunPolicy::kRebase:
      return executor::OverrunPolicy::kRebase;
    case model::OverrunPolicy::kCatchUp:
      break;
  }
  return executor::OverrunPolicy::kCatchUp;
}

executor::KindOptions to_engine(const model::ExecutorChoice& choice) {
  executor::KindOptions options{
      .wait_set = {.threads = choice.threads,
                   .order = choice.order_seed ? executor::WaitSetOrder::kArbitrary
                                              : executor::WaitSetOrder::kRegistration,
                   .seed = choice.order_seed.value_or(0),
                   .subscriptions_first = choice.subscriptions_first},
      .events = {.timers_thread = choice.timers_thread},
      .static_order = {.logical_execution_time = choice.logical_execution_time}};
  if (choice.trigger == model::SetTrigger::kAll) {
    options.static_order.trigger = executor::trigger_all();
  } else if (choice.trigger == model::SetTrigger::kCallback) {
    options.static_order.trigger = executor::trigger_one(choice.trigger_callback);
  }
  return options;
}

realtime::Scheduling to_realtime(const model::Scheduling& scheduling) {
  const auto& [runtime, deadline, period] = scheduling.reservation;
  return {.policy = to_realtime(scheduling.policy),
          .priority = scheduling.priority,
          .cpus = scheduling.cpus,
          .nice = scheduling.nice,
          .reservation = {runtime, deadline, period}};
}

realtime::ThreadPlan to_realtime(const model::ThreadPlan& plan) {
  realtime::ThreadPlan result;
  for (const model::ThreadRule& rule : plan.rules) {
    result.rules.push_back({.name = rule.name,
                            .scheduling = to_realtime(rule.scheduling),
                            .library = rule.library,
                            .function = rule.function,
                            .keep = rule.keep});
  }
  return result;
}

}  // namespace rclrt::recorder
