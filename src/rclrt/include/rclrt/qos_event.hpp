// SPDX-License-Identifier: Apache-2.0
// Events of the middleware about the QoS of a publisher or a subscription.
#pragma once

#include <rcl/event.h>
#include <rmw/events_statuses/events_statuses.h>

#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "rclrt/detail/event_kinds.hpp"
#include "rclrt/export.hpp"
#include "rclrt/guard_condition.hpp"
#include "rclrt/node.hpp"
#include "rclrt/publisher.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/subscription.hpp"

namespace rclrt {

// Each status has two counts: `total_count` since the beginning, and `total_count_change` since the
// last callback.

/// Status of a publisher that offered a deadline and did not keep it.
using OfferedDeadlineMissed = rmw_offered_deadline_missed_status_t;
/// Status of a publisher that did not assert its liveliness in time.
using LivelinessLost = rmw_liveliness_lost_status_t;
/// Status of a subscription for which no message came within its deadline.
using RequestedDeadlineMissed = rmw_requested_deadline_missed_status_t;
/// Status of a subscription: publishers became alive or ceased to be alive.
using LivelinessChanged = rmw_liveliness_changed_status_t;
/// Status of a subscription that the middleware could not give a message.
using MessageLost = rmw_message_lost_status_t;
/// Status of a publisher or a subscription that found an incompatible endpoint and was not matched
/// with it.
using QosIncompatible = rmw_qos_incompatible_event_status_t;

class QosEventBase;

namespace detail {

class EventWatcher;

/// While it exists, events are collected.
class RCLRT_EXPORT EventWatch {
 public:
  /// Throws Error, std::system_error.
  RCLRT_SETUP explicit EventWatch(QosEventBase& event);
  ~EventWatch();
  EventWatch(const EventWatch&) = delete;
  EventWatch& operator=(const EventWatch&) = delete;

 private:
  QosEventBase& event_;
  EventWatcher& watcher_;
};

}  // namespace detail

/// A callback that runs when the middleware reports a QoS event. It is implemented as a guard
/// condition that the event triggers. All events before the callback starts cause one run. The
/// first such object in a context starts a thread of normal priority that waits for events, even if
/// the callback was added to no executor.
class RCLRT_EXPORT QosEventBase : public GuardCondition {
 public:
  /// Makes the callback for one kind of event. Throws std::invalid_argument if the publisher or
  /// subscription already has a callback for this kind.
  RCLRT_SETUP QosEventBase(const std::shared_ptr<PublisherBase>& publisher,
                           rcl_publisher_event_type_t type, CallbackOptions options);
  RCLRT_SETUP QosEventBase(const std::shared_ptr<SubscriptionBase>& subscription,
                           rcl_subscription_event_type_t type, CallbackOptions options);
  ~QosEventBase() override;

 protected:
  /// Takes the status and triggers the callback; called by the thread that waits. Throws Error.
  virtual void collect() = 0;
  /// Returns false when there is nothing to take. Throws Error.
  bool take(void* status);

 private:
  friend class detail::EventWatch;
  friend class detail::EventWatcher;

  const std::shared_ptr<Context> context_;
  const detail::EventClaim claim_;  // keeps the publisher or subscription, which outlives the event
  rcl_event_t event_;
};

namespace detail {

template <typename Status>
constexpr auto event_of(const PublisherBase& /*source*/) {
  if constexpr (std::is_same_v<Status, OfferedDeadlineMissed>) {
    return RCL_PUBLISHER_OFFERED_DEADLINE_MISSED;
  } else if constexpr (std::is_same_v<Status, LivelinessLost>) {
    return RCL_PUBLISHER_LIVELINESS_LOST;
  } else {
    static_assert(std::is_same_v<Status, QosIncompatible>,
                  "publishers have OfferedDeadlineMissed, LivelinessLost and QosIncompatible");
    return RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS;
  }
}

template <typename Status>
constexpr auto event_of(const SubscriptionBase& /*source*/) {
  if constexpr (std::is_same_v<Status, RequestedDeadlineMissed>) {
    return RCL_SUBSCRIPTION_REQUESTED_DEADLINE_MISSED;
  } else if constexpr (std::is_same_v<Status, LivelinessChanged>) {
    return RCL_SUBSCRIPTION_LIVELINESS_CHANGED;
  } else if constexpr (std::is_same_v<Status, MessageLost>) {
    return RCL_SUBSCRIPTION_MESSAGE_LOST;
  } else {
    static_assert(std::is_same_v<Status, QosIncompatible>,
                  "subscriptions have RequestedDeadlineMissed, LivelinessChanged, MessageLost and "
                  "QosIncompatible");
    return RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS;
  }
}

/// Sets the changes in `now` to the difference to `before`, and then copies `now` into `before`.
/// The middleware counts changes since the status was last taken. That would be wrong here, because
/// several statuses may be taken before the callback runs once.
template <typename Status>
bool note_change(Status& now, Status& before) {
  bool changed = false;
  if constexpr (std::is_same_v<Status, LivelinessChanged>) {
    now.alive_count_change = now.alive_count - before.alive_count;
    now.not_alive_count_change = now.not_alive_count - before.not_alive_count;
    changed = now.alive_count_change != 0 || now.not_alive_count_change != 0;
  } else {
    now.total_count_change = now.total_count - before.total_count;
    changed = now.total_count_change != 0;
  }
  before = now;
  return changed;
}

template <typename Status, typename Source, typename F>
class QosEventOf final : public QosEventBase {
 public:
  QosEventOf(const std::shared_ptr<Source>& source, const CallbackOptions& options, F function)
      : QosEventBase(source, event_of<Status>(*source), options), function_(std::move(function)) {}

 protected:
  executor::Outcome run(InstanceInfo& info) override {
    clear();
    Status status{};  // NOLINT(bugprone-invalid-enum-default-initialization): as rmw has it
    {
      const std::scoped_lock lock(mutex_);
      status = newest_;
      if (!note_change(status, last_)) {
        return executor::Outcome::kEmpty;
      }
    }
    if (info.ready_ns == 0) {
      info.ready_ns = info.release_ns;  // the executor polls: the event has no time of its own
    }
    const UserCode user_code(*this, info);
    call(function_, info, std::as_const(status));
    return executor::Outcome::kRan;
  }

  void collect() override {
    Status status{};  // NOLINT(bugprone-invalid-enum-default-initialization): as rmw has it
    if (this->take(&status)) {
      {
        const std::scoped_lock lock(mutex_);
        newest_ = status;
      }
      this->trigger();
    }
  }

 private:
  /// Takes over the events that were reported before this object existed. Until then the warning of
  /// incompatible QoS received them; the warning ends when this object begins.
  bool collect_earlier() {
    if constexpr (std::is_same_v<Status, QosIncompatible>) {
      Status status{};  // NOLINT(bugprone-invalid-enum-default-initialization): as rmw has it
      if (this->take(&status) && status.total_count != 0) {
        newest_ = status;  // no other thread knows this event yet
        this->trigger();
        return true;
      }
    }
    return false;
  }

  F function_;
  realtime::PiMutex mutex_;  // guards the two below, for a copy
  // NOLINTBEGIN(bugprone-invalid-enum-default-initialization): as rmw has them
  Status newest_ = {};
  Status last_ = {};  // as passed to the last callback
  // NOLINTEND(bugprone-invalid-enum-default-initialization)
  const bool has_earlier_ = collect_earlier();
  const EventWatch watch_{*this};  // ends before what it collects into
};

}  // namespace detail

/// Creates a callback of `node` for one kind of QoS event of a publisher or subscription:
/// `create_qos_event<MessageLost>(node, subscription, callback)`. For the kinds see the statuses
/// above. `callback` takes `const Status&`, optionally followed by `const InstanceInfo&`.
template <typename Status, typename Source, typename F>
RCLRT_SETUP std::shared_ptr<QosEventBase> create_qos_event(Node& node,
                                                           const std::shared_ptr<Source>& source,
                                                           F callback,
                                                           const CallbackOptions& options = {}) {
  auto event =
      std::make_shared<detail::QosEventOf<Status, Source, F>>(source, options, std::move(callback));
  node.add_callback(event);
  return event;
}

}  // namespace rclrt
