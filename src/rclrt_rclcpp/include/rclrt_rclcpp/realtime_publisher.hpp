// SPDX-License-Identifier: Apache-2.0
// Publishes from a control loop: the loop fills a message in place and passes it to a thread, which
// publishes it.
#pragma once

#include <rclcpp/rclcpp.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/semaphore.hpp"
#include "rclrt/realtime/spsc_queue.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt_rclcpp/export.hpp"

namespace rclrt_rclcpp {

/// Options of a RealtimePublisher.
struct RealtimePublisherOptions {
  std::size_t depth = 4;  ///< messages that may wait or be filled at a time; at least 1
  /// The scheduling of the thread that publishes. Its priority should be below the loop's, and
  /// above that of threads that must not delay its messages.
  rclrt::realtime::Scheduling scheduling{};
};

/// The part of a RealtimePublisher that does not depend on the message type. The loop passes the
/// index of a filled message to the publishing thread, and gets it back after the publication,
/// through two single-producer, single-consumer queues.
class RCLRT_RCLCPP_EXPORT RealtimePublisherBase {
 public:
  RealtimePublisherBase(const RealtimePublisherBase&) = delete;
  RealtimePublisherBase& operator=(const RealtimePublisherBase&) = delete;

  /// Returns how many messages were dropped because all were in use. Thread-safe.
  std::uint64_t dropped() const noexcept RCLRT_NONBLOCKING { return dropped_.load(); }
  /// Returns how many messages were published. Thread-safe.
  std::uint64_t published() const noexcept RCLRT_NONBLOCKING { return published_.load(); }
  /// Returns how many messages could not be published, such as after a shutdown. Thread-safe.
  std::uint64_t failed() const noexcept RCLRT_NONBLOCKING { return failed_.load(); }

 protected:
  /// Throws std::invalid_argument for a depth of 0.
  explicit RealtimePublisherBase(const RealtimePublisherOptions& options);
  virtual ~RealtimePublisherBase() = default;

  /// Starts the thread. Throws std::system_error with cause and fix.
  RCLRT_SETUP void start(const std::string& topic);
  /// Publishes the waiting messages, and ends the thread; called by the derived destructor.
  RCLRT_SETUP void stop();

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  /// Takes a message for the loop to fill. Returns kNone, and counts a drop, if all messages wait.
  std::size_t take_free() noexcept RCLRT_NONBLOCKING;
  /// Returns true until the publisher's context is shut down. After that, rclcpp drops messages
  /// without an error.
  static bool can_publish(const rclcpp::PublisherBase& publisher);

  /// Passes a filled message to the thread.
  void hand_over(std::size_t index) noexcept RCLRT_NONBLOCKING;
  /// Keeps a message that was not filled, for the next `take_free`.
  void give_back(std::size_t index) noexcept RCLRT_NONBLOCKING { returned_ = index; }

 private:
  /// Publishes the message with this index. Returns false if messages are not sent any more,
  /// because of a shutdown; rethrows rclcpp's exceptions.
  virtual bool publish_message(std::size_t index) = 0;
  void run();

  const RealtimePublisherOptions options_;
  rclrt::realtime::SpscQueue<std::size_t> free_;    // from the thread to the loop
  rclrt::realtime::SpscQueue<std::size_t> filled_;  // from the loop to the thread
  std::size_t returned_ = kNone;                    // the loop's: taken, and not handed over
  rclrt::realtime::Semaphore ready_;  // posted once for each filled message, and at the end
  std::atomic<bool> stop_{false};
  // Statistics only: no thread relies on their order with other accesses.
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> published_{0};
  std::atomic<std::uint64_t> failed_{0};
  rclrt::realtime::Thread thread_;
};

/// Publishes messages that one real-time thread fills in place. That thread takes no lock, does not
/// allocate and does not wait: a control loop under rclrt::realtime::CyclicThread, a callback with
/// a deadline, the update of a ros2_control controller. The work of rclcpp and the middleware is
/// done on a separate thread.
///
///     if (auto message = publisher.borrow()) { *message = state; message.publish(); }
///
/// Messages of a fixed size never allocate. Others start as copies of a prototype: give its arrays
/// and strings the longest size that the loop fills, because a copy reserves no more.
template <typename MessageT>
class RealtimePublisher final : public RealtimePublisherBase {
 public:
  /// A message that the loop may fill. If it is not published, it is given back unpublished.
  class Loan {
   public:
    Loan(Loan&& other) noexcept
        : publisher_(other.publisher_), index_(std::exchange(other.index_, kNone)) {}
    Loan& operator=(Loan&&) = delete;
    ~Loan() { give_back(); }

    /// Returns whether the loan has a message; it has none if all messages wait to be published.
    explicit operator bool() const noexcept RCLRT_NONBLOCKING { return index_ != kNone; }
    MessageT* operator->() const noexcept RCLRT_NONBLOCKING { return &publisher_.at(index_); }
    MessageT& operator*() const noexcept RCLRT_NONBLOCKING { return publisher_.at(index_); }

    /// Passes the message to the thread; the loan is empty afterwards.
    void publish() noexcept RCLRT_NONBLOCKING {
      if (index_ != kNone) {
        publisher_.hand_over(std::exchange(index_, kNone));
      }
    }

   private:
    friend class RealtimePublisher;
    Loan(RealtimePublisher& publisher, std::size_t index) noexcept
        : publisher_(publisher), index_(index) {}

    void give_back() noexcept RCLRT_NONBLOCKING {
      if (index_ != kNone) {
        publisher_.give_back(index_);
      }
    }

    RealtimePublisher& publisher_;
    std::size_t index_;
  };

  /// Starts the publishing thread. Throws std::invalid_argument if `publisher` is nullptr or the
  /// depth is 0, and std::system_error with cause and fix if the thread cannot get its scheduling.
  RCLRT_SETUP explicit RealtimePublisher(std::shared_ptr<rclcpp::Publisher<MessageT>> publisher,
                                         const RealtimePublisherOptions& options = {},
                                         const MessageT& prototype = MessageT())
      : RealtimePublisherBase(options),
        publisher_(std::move(publisher)),
        messages_(options.depth, prototype) {
    if (publisher_ == nullptr) {
      throw std::invalid_argument("a RealtimePublisher needs a publisher, not nullptr");
    }
    start(publisher_->get_topic_name());
  }
  /// Publishes the waiting messages, and ends the thread.
  ~RealtimePublisher() override { stop(); }

  /// Borrows a message to fill in; it still has the content of its last publication. The result is
  /// empty if all messages wait to be published. Only one thread may borrow, and only one message
  /// at a time.
  [[nodiscard]] Loan borrow() noexcept RCLRT_NONBLOCKING { return Loan(*this, take_free()); }

  /// Copies a message and passes the copy to the publishing thread. Returns false and counts a drop
  /// if all messages wait to be published. The copy allocates if it is longer than the prototype.
  bool try_publish(const MessageT& message) {
    Loan loan = borrow();
    if (!loan) {
      return false;
    }
    *loan = message;
    loan.publish();
    return true;
  }

 private:
  MessageT& at(std::size_t index) noexcept RCLRT_NONBLOCKING { return messages_[index]; }
  bool publish_message(std::size_t index) override {
    if (!can_publish(*publisher_)) {
      return false;
    }
    publisher_->publish(messages_[index]);
    return true;
  }

  const std::shared_ptr<rclcpp::Publisher<MessageT>> publisher_;
  std::vector<MessageT> messages_;  // an index has one owner: the loop, a queue or the thread
};

}  // namespace rclrt_rclcpp
