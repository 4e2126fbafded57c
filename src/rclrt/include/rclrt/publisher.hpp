// SPDX-License-Identifier: Apache-2.0
// Publishers: to other processes, within this one, and with loaned messages.
#pragma once

#include <rcl/event.h>
#include <rcl/publisher.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <string>
#include <utility>

#include "rclrt/detail/event_kinds.hpp"
#include "rclrt/detail/intra_topics.hpp"
#include "rclrt/detail/qos_warning.hpp"
#include "rclrt/export.hpp"
#include "rclrt/loan.hpp"
#include "rclrt/qos.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt {

class Node;
struct NodeHandle;

/// Options of a publisher.
struct PublisherOptions {
  /// How many messages may be in use at once: borrowed, or being sent by `publish`. The publisher
  /// allocates this number of messages when it is made.
  std::size_t loans = 1;
};

namespace detail {

/// The rcl publisher, kept alive by the messages that the middleware has lent.
struct RCLRT_EXPORT PublisherHandle final : LoanOwner {
  RCLRT_SETUP PublisherHandle(std::shared_ptr<NodeHandle> node,
                              const rosidl_message_type_support_t* type, const std::string& topic,
                              const QoS& qos);
  ~PublisherHandle() override;

  /// Returns a message in the middleware's memory; nullptr when it lends none.
  void* borrow() noexcept;
  void give_back(void* token) noexcept override;

  /// Returns the number of matched subscriptions. Asks the middleware, which takes a lock, only if
  /// subscriptions have appeared or disappeared since the last call.
  std::size_t count_subscriptions() noexcept;

  /// Looks for incompatible subscriptions, to warn of them.
  RCLRT_SETUP void look_for_mismatch() const noexcept { warning_->look(); }
  /// Ends the warnings of incompatible subscriptions: a callback of the user gets them instead.
  void end_qos_warnings() noexcept { warning_.reset(); }

  const std::shared_ptr<NodeHandle> node;
  rcl_publisher_t publisher;
  const rosidl_message_type_support_t* const type;
  bool lends = false;

  EventKinds events{0};

 private:
  rcl_event_t matched_;
  bool listens_ = false;  // to matched_
  std::unique_ptr<QosWarning> warning_;
  // change_ counts the changes of the matched subscriptions. The listener increments it after the
  // middleware has counted the subscriptions. known_ has the number of subscriptions together with
  // the value of change_ before the number was read. So if a slow thread stores an old number, the
  // next thread sees that the change differs, and reads the number again.
  std::atomic<std::uint32_t> change_{1};
  std::atomic<std::uint64_t> known_{0};  // upper half: the change; lower half: the subscriptions
};

}  // namespace detail

/// The part of a publisher that does not depend on the message's type.
class RCLRT_EXPORT PublisherBase {
 public:
  ~PublisherBase();
  PublisherBase(const PublisherBase&) = delete;
  PublisherBase& operator=(const PublisherBase&) = delete;

  /// Returns the name after remapping, with its namespace.
  std::string get_topic_name() const;
  /// Returns how many subscriptions it is matched with now, including those of the same context.
  std::size_t get_subscription_count() const;
  /// Returns how many of them get its messages by reference.
  std::size_t get_intra_process_subscription_count() const;
  /// Returns how often all messages were in use, so that `borrow` had none to lend or `publish`
  /// none to copy into. Thread-safe.
  std::uint64_t exhausted() const noexcept { return exhausted_.load(std::memory_order_relaxed); }
  /// Returns whether the middleware lends messages of this type to be published without a copy.
  bool can_loan_messages() const noexcept { return handle_->lends; }

  /// Reports to the middleware that this publisher is alive, for QoS::liveliness_by_topic.
  /// Publishing a message does so, too. Thread-safe. Returns false after a shutdown.
  bool assert_liveliness() noexcept;

  /// Returns the handle, for entities of your own.
  const std::shared_ptr<detail::PublisherHandle>& handle() const noexcept { return handle_; }

 protected:
  /// Makes the publisher in rcl. Throws Error.
  RCLRT_SETUP PublisherBase(std::shared_ptr<NodeHandle> node,
                            const rosidl_message_type_support_t* type, const std::string& topic,
                            const QoS& qos, const PublisherOptions& options,
                            detail::GetIntraTopic get_topic);

  /// Sends through the middleware. Returns false, with a report on stderr, if that fails.
  bool send(const void* message) noexcept;
  /// Sends `message`, which is in `slot`. Ends the caller's hold on the slot.
  bool send_slot(detail::IntraSlot* slot, const void* message) noexcept;
  /// Sends `message`, which the middleware lent. The message stays lent if this returns false.
  bool send_lent(void* message) noexcept;

  bool has_intra_process_subscriptions() const noexcept { return writer_.matched() > 0; }
  detail::IntraSlot* borrow_slot() noexcept;

  const std::shared_ptr<detail::PublisherHandle> handle_;
  const std::shared_ptr<detail::IntraTopic> intra_topic_;

 private:
  bool is_needed_outside() noexcept;

  const bool always_outside_;
  detail::IntraWriter writer_;
  std::atomic<std::uint64_t> exhausted_{0};  // statistics only
};

/// Sends messages on a topic. Intra-process subscriptions of the same context get them by
/// reference; other subscriptions get them through the middleware. Thread-safe.
template <typename T>
class Publisher : public PublisherBase {
  using Slot = detail::IntraSlotOf<T>;

 public:
  /// Makes the publisher; use Node::create_publisher.
  RCLRT_SETUP Publisher(std::shared_ptr<NodeHandle> node, const std::string& topic, const QoS& qos,
                        const PublisherOptions& options = {})
      : PublisherBase(std::move(node), rosidl_typesupport_cpp::get_message_type_support_handle<T>(),
                      topic, qos, options, &detail::get_intra_topic<T>) {}

  /// Sends `message`. For intra-process subscriptions it is copied once, into existing storage.
  /// Returns false if it was not sent: the context is shut down, the middleware refused it, or all
  /// messages of the intra-process pool are in use. If a message of the same size was sent before,
  /// nothing is allocated here; rmw_fastrtps itself allocates about once per call.
  bool publish(const T& message) noexcept {
    if (!has_intra_process_subscriptions()) {
      return send(&message);
    }
    Loan<T> copy = lend_slot();
    if (!copy) {
      return false;
    }
    *copy = message;
    return publish(std::move(copy));
  }

  /// Returns a message to fill in and publish without a copy. If there are intra-process
  /// subscriptions, it comes from the pool that is shared with them. Otherwise the middleware lends
  /// it if it can do so for this type; if not, the message comes from the pool as well. The loan is
  /// empty if all messages are in use. Allocates nothing here.
  Loan<T> borrow() noexcept {
    if (handle_->lends && !has_intra_process_subscriptions()) {
      if (void* const message = handle_->borrow()) {
        return Loan<T>(handle_, message, static_cast<T*>(message));
      }
    }
    return lend_slot();
  }

  /// Sends a message that was borrowed from this publisher, or from another publisher of the same
  /// topic and context with a shared pool. Returns false for the same reasons as the function
  /// above, and if the loan is empty or from elsewhere. The loan is empty afterwards in any case.
  bool publish(Loan<T> loan) noexcept {
    if (!loan) {
      return false;
    }
    if (loan.owner_ == intra_topic_) {
      const T* const message = std::exchange(loan.message_, nullptr);
      return send_slot(static_cast<detail::IntraSlot*>(loan.token_), message);
    }
    if (loan.owner_ != handle_) {
      return false;
    }
    if (has_intra_process_subscriptions()) {  // one came after `borrow`
      return publish(std::as_const(*loan));
    }
    const bool sent = send_lent(loan.message_);
    if (sent) {
      loan.message_ = nullptr;  // the middleware's again
    }
    return sent;
  }

 private:
  Loan<T> lend_slot() noexcept {
    auto* const slot = static_cast<Slot*>(borrow_slot());
    return slot != nullptr
               ? Loan<T>(intra_topic_, static_cast<detail::IntraSlot*>(slot), &slot->message)
               : Loan<T>();
  }
};

}  // namespace rclrt
