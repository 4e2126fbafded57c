// SPDX-License-Identifier: Apache-2.0
// Subscriptions: from other processes, and from within this one.
#pragma once

#include <rcl/subscription.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "rclrt/callback_options.hpp"
#include "rclrt/detail/event_kinds.hpp"
#include "rclrt/detail/intra_topics.hpp"
#include "rclrt/detail/qos_warning.hpp"
#include "rclrt/detail/tracing.hpp"
#include "rclrt/entity.hpp"
#include "rclrt/export.hpp"
#include "rclrt/qos.hpp"

namespace rclrt {

struct NodeHandle;

/// The part of a subscription that does not depend on the message type. The worker that runs the
/// callback takes the message, into storage that was allocated at construction.
class RCLRT_EXPORT SubscriptionBase : public Entity {
 public:
  /// Makes the subscription. `get_topic` returns the IntraTopic for CallbackOptions::intra_process.
  /// Throws std::invalid_argument if that option is set and `get_topic` is empty, or if the QoS
  /// excludes the option.
  RCLRT_SETUP SubscriptionBase(std::shared_ptr<NodeHandle> node,
                               const rosidl_message_type_support_t* type, const std::string& topic,
                               const QoS& qos, const CallbackOptions& options,
                               detail::GetIntraTopic get_topic = nullptr);
  ~SubscriptionBase() override;

  /// Returns the name after remapping, with its namespace.
  std::string get_topic_name() const;
  /// Returns how many publishers it is matched with now, including those of the same context.
  std::size_t get_publisher_count() const;

  /// Returns whether the callback reads messages in the middleware's memory, without a copy. That
  /// is so if the type is plain and ROS_DISABLE_LOANED_MESSAGES is 0 (rcl's default is 1), and not
  /// with CallbackOptions::intra_process.
  bool can_loan_messages() const noexcept { return lends_; }

  /// Returns the handle, for entities of your own.
  const rcl_subscription_t& rcl() const noexcept { return subscription_; }
  const std::shared_ptr<NodeHandle>& node() const noexcept { return node_; }
  detail::EventKinds& events() noexcept { return events_; }
  /// Ends the warnings of publishers with incompatible QoS: a callback of the user gets these
  /// events instead.
  void end_qos_warnings() noexcept { warning_.reset(); }

  void count_places(WaitSetPlaces& places) const override;
  void add_to(rcl_wait_set_t& wait_set) override;
  bool is_ready_in(const rcl_wait_set_t& wait_set) const override;

 protected:
  /// Takes the oldest message from the middleware into `message`. Returns false if there is none.
  /// Also sets the time of its arrival, if the executor does not know it. Throws Error.
  bool take(void* message, InstanceInfo& info);

  /// Returns whether one waiting instance represents the newest message, from the middleware or
  /// from an intra-process publisher. If so, and an instance has taken no message, the caller must
  /// try once more; see take_slot.
  bool keeps_newest() const noexcept;

  /// Takes the oldest message that an intra-process publisher has added; nullptr if there is none.
  /// The caller must pass the result to `return_slot` afterwards.
  const detail::IntraSlot* take_slot(InstanceInfo& info) noexcept;
  /// Ends the hold on what take_slot returned.
  void return_slot(const detail::IntraSlot* slot) noexcept;

  /// Takes a message from the middleware as `take` does, without a copy. Returns nullptr if there
  /// is none. The caller must pass the result to `give_back` afterwards.
  const void* take_lent(InstanceInfo& info);
  /// Gives what take_lent returned back to the middleware.
  void give_back(const void* lent) noexcept;

  void attach() override;
  void detach() noexcept override;

 private:
  struct IntraPort;

  static void on_new_message(const void* self, std::size_t count);
  bool was_taken(rcl_ret_t result, const rmw_message_info_t& message_info, InstanceInfo& info);
  std::unique_ptr<IntraPort> make_port(const QoS& qos, detail::GetIntraTopic get_topic);

  const std::shared_ptr<NodeHandle> node_;
  rcl_subscription_t subscription_;
  bool lends_ = false;
  std::size_t place_ = 0;  // in the wait set
  detail::EventKinds events_{0};
  std::unique_ptr<IntraPort> port_;
  std::unique_ptr<detail::QosWarning> warning_;
};

/// A subscription with a callback for each message.
template <typename T>
class Subscription : public SubscriptionBase {
 protected:
  /// Makes the subscription; use Node::create_subscription.
  RCLRT_SETUP Subscription(std::shared_ptr<NodeHandle> node, const std::string& topic,
                           const QoS& qos, const CallbackOptions& options)
      : SubscriptionBase(std::move(node),
                         rosidl_typesupport_cpp::get_message_type_support_handle<T>(), topic, qos,
                         options, &detail::get_intra_topic<T>) {}

  /// A message that the callback reads without a copy while this object exists. It comes from an
  /// intra-process publisher, or the middleware has lent it.
  class InPlace {
   public:
    /// Takes a message without a copy, if there is one.
    InPlace(Subscription& subscription, InstanceInfo& info)
        : subscription_(subscription), slot_(subscription.take_slot(info)) {
      if (slot_ != nullptr) {
        message_ = &static_cast<const detail::IntraSlotOf<T>*>(slot_)->message;
        TRACETOOLS_TRACEPOINT(rclcpp_take, static_cast<const void*>(message_));
      } else if (subscription.can_loan_messages()) {
        message_ = static_cast<const T*>(subscription.take_lent(info));
      }
    }
    ~InPlace() {
      if (slot_ != nullptr) {
        subscription_.return_slot(slot_);
      } else if (message_ != nullptr) {
        subscription_.give_back(message_);
      }
    }
    InPlace(const InPlace&) = delete;
    InPlace& operator=(const InPlace&) = delete;

    explicit operator bool() const noexcept { return message_ != nullptr; }
    const T& operator*() const noexcept { return *message_; }
    bool is_handed_over() const noexcept { return slot_ != nullptr; }

   private:
    Subscription& subscription_;
    const detail::IntraSlot* const slot_;
    const T* message_ = nullptr;
  };

  /// Takes a message into `*message`. If the subscription reads messages in place, it is copied.
  /// Returns false if there is none. Throws Error.
  bool take(T* message, InstanceInfo& info) {
    return take_once(message, info) || (this->keeps_newest() && take_once(message, info));
  }

 private:
  bool take_once(T* message, InstanceInfo& info) {
    if (const InPlace in_place(*this, info); in_place) {
      *message = *in_place;
      return true;
    }
    return !this->can_loan_messages() && SubscriptionBase::take(message, info);
  }
};

namespace detail {

/// Which input a subscription has taken before its instance runs; see
/// executor::Callback::take_input.
enum class TakenAhead : std::uint8_t {
  kNotAsked,  ///< the instance takes its message itself
  kNothing,   ///< there was no message
  kInPlace,   ///< a message that is read where it is
  kCopy,
};

/// Calls user code with or without the instance's information, whichever it takes.
template <typename F, typename... Arguments>
void call(F& function, const InstanceInfo& info, Arguments&... arguments) {
  if constexpr (std::is_invocable_v<F&, Arguments&..., const InstanceInfo&>) {
    function(arguments..., info);
  } else {
    static_assert(std::is_invocable_v<F&, Arguments&...>,
                  "the callback must take the message(s) by const reference or value (a service's: "
                  "const Request&, Response&), optionally followed by const rclrt::InstanceInfo&");
    function(arguments...);
  }
}

template <typename T, typename F>
class SubscriptionOf final : public Subscription<T> {
 public:
  SubscriptionOf(std::shared_ptr<NodeHandle> node, const std::string& topic, const QoS& qos,
                 const CallbackOptions& options, F function)
      : Subscription<T>(std::move(node), topic, qos, options), function_(std::move(function)) {}

 protected:
  executor::Outcome run(InstanceInfo& info) override {
    if (taken_ahead_ != TakenAhead::kNotAsked) {
      return run_taken(info);
    }
    const executor::Outcome outcome = run_once(info);
    return outcome == executor::Outcome::kEmpty && this->keeps_newest() ? run_once(info) : outcome;
  }
  void take_input(InstanceInfo& info) override {
    TakenAhead taken = take_once(info);
    if (taken == TakenAhead::kNothing && this->keeps_newest()) {
      taken = take_once(info);
    }
    taken_ahead_ = taken;
  }
  void discard_input() noexcept override {
    in_place_.reset();
    taken_ahead_ = TakenAhead::kNotAsked;
  }

 private:
  TakenAhead take_once(InstanceInfo& info) {
    if (in_place_.emplace(*this, info)) {
      return TakenAhead::kInPlace;
    }
    in_place_.reset();
    const bool copied = !this->can_loan_messages() && SubscriptionBase::take(&message_, info);
    return copied ? TakenAhead::kCopy : TakenAhead::kNothing;
  }

  executor::Outcome run_taken(InstanceInfo& info) {
    struct Discard {
      SubscriptionOf& subscription;
      ~Discard() { subscription.discard_input(); }
    } const discard{*this};
    if (taken_ahead_ == TakenAhead::kNothing) {
      return executor::Outcome::kEmpty;
    }
    const bool in_place = taken_ahead_ == TakenAhead::kInPlace;
    trace_stamp_of(in_place ? **in_place_ : std::as_const(message_));
    const UserCode user_code(*this, info, in_place && in_place_->is_handed_over());
    call(function_, info, in_place ? **in_place_ : std::as_const(message_));
    return executor::Outcome::kRan;
  }

  executor::Outcome run_once(InstanceInfo& info) {
    if (const typename Subscription<T>::InPlace in_place(*this, info); in_place) {
      trace_stamp_of(*in_place);
      const UserCode user_code(*this, info, in_place.is_handed_over());
      call(function_, info, *in_place);
      return executor::Outcome::kRan;
    }
    if (this->can_loan_messages()) {
      return executor::Outcome::kEmpty;
    }
    if (this->group().type() == CallbackGroupType::kReentrant) {
      T own;  // instances overlap: each needs a message of its own
      return run(own, info);
    }
    return run(message_, info);
  }

  executor::Outcome run(T& message, InstanceInfo& info) {
    if (!SubscriptionBase::take(&message, info)) {
      return executor::Outcome::kEmpty;
    }
    trace_stamp_of(message);
    const UserCode user_code(*this, info);
    call(function_, info, std::as_const(message));
    return executor::Outcome::kRan;
  }

  F function_;
  T message_;  // reused: a message of a size seen before allocates nothing
  // For an instance with an input that was taken ahead; used by the thread that runs it.
  std::optional<typename Subscription<T>::InPlace> in_place_;
  TakenAhead taken_ahead_ = TakenAhead::kNotAsked;
};

}  // namespace detail

}  // namespace rclrt
