// SPDX-License-Identifier: Apache-2.0
// Publishing from a control loop: the loop fills a message in place and hands it to a thread that
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

/// How a RealtimePublisher publishes.
struct RealtimePublisherOptions {
  std::size_t depth = 4;  ///< messages that may wait or be filled at a time; at least 1
  /// Of the thread that publishes: below the loop, above what may delay its messages.
  rclrt::realtime::Scheduling scheduling{};
};

/// What does not depend on the type of message. Indices of messages go from the loop to the thread
/// and back by two single-producer, single-consumer queues.
class RCLRT_RCLCPP_EXPORT RealtimePublisherBase {
 public:
  RealtimePublisherBase(const RealtimePublisherBase&) = delete;
  RealtimePublisherBase& operator=(const RealtimePublisherBase&) = delete;

  /// Returns how many messages found no room. Thread-safe.
  std::uint64_t dropped() const noexcept RCLRT_NONBLOCKING { return dropped_.load(); }
  /// Returns how many messages were published. Thread-safe.
  std::uint64_t published() const noexcept RCLRT_NONBLOCKING { return published_.load(); }
  /// Returns how many could not be published, as after a shutdown. Thread-safe.
  std::uint64_t failed() const noexcept RCLRT_NONBLOCKING { return failed_.load(); }

 protected:
  /// Throws std::invalid_argument for a depth of 0.
  explicit RealtimePublisherBase(const RealtimePublisherOptions& options);
  virtual ~RealtimePublisherBase() = default;

  /// Starts the thread. Throws std::system_error with cause and fix.
  RCLRT_SETUP void start(const std::string& topic);
  /// Publishes what waits, and ends the thread; called by the derived destructor.
  RCLRT_SETUP void stop();

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  /// Takes a message to fill, for the loop; kNone, and counted, if all wait.
  std::size_t take_free() noexcept RCLRT_NONBLOCKING;
  /// Returns whether the publisher's context is not shut down: rclcpp then passes over what is
  /// published without a word.
  static bool can_publish(const rclcpp::PublisherBase& publisher);

  /// Hands a filled message over.
  void hand_over(std::size_t index) noexcept RCLRT_NONBLOCKING;
  /// Keeps a message that was not filled, for the next `take_free`.
  void give_back(std::size_t index) noexcept RCLRT_NONBLOCKING { returned_ = index; }

 private:
  /// Returns false where nothing is sent any more; throws what rclcpp throws.
  virtual bool publish_message(std::size_t index) = 0;
  void run();

  const RealtimePublisherOptions options_;
  rclrt::realtime::SpscQueue<std::size_t> free_;    // from the thread to the loop
  rclrt::realtime::SpscQueue<std::size_t> filled_;  // from the loop to the thread
  std::size_t returned_ = kNone;                    // the loop's: taken, and not handed over
  rclrt::realtime::Semaphore ready_;  // posted once for each filled message, and at the end
  std::atomic<bool> stop_{false};
  // Counts alone: nothing is read because of them.
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> published_{0};
  std::atomic<std::uint64_t> failed_{0};
  rclrt::realtime::Thread thread_;
};

/// Publishes what one real-time thread fills in place, without a lock, an allocation or a wait on
/// that thread: a control loop under rclrt::realtime::CyclicThread, a callback with a deadline, the
/// update of a ros2_control controller. What rclcpp and the middleware do happens on a thread of
/// its own.
///
///     if (auto message = publisher.borrow()) { *message = state; message.publish(); }
///
/// Messages of a fixed size never allocate. Others start as copies of a prototype: give its arrays
/// and strings the longest size that the loop fills, for a copy has no room beyond.
template <typename MessageT>
class RealtimePublisher final : public RealtimePublisherBase {
 public:
  /// A message that the loop may fill. Given back unpublished if it is not published.
  class Loan {
   public:
    Loan(Loan&& other) noexcept
        : publisher_(other.publisher_), index_(std::exchange(other.index_, kNone)) {}
    Loan& operator=(Loan&&) = delete;
    ~Loan() { give_back(); }

    /// Returns whether there is a message: all others wait to be published.
    explicit operator bool() const noexcept RCLRT_NONBLOCKING { return index_ != kNone; }
    MessageT* operator->() const noexcept RCLRT_NONBLOCKING { return &publisher_.at(index_); }
    MessageT& operator*() const noexcept RCLRT_NONBLOCKING { return publisher_.at(index_); }

    /// Hands the message over; the loan then has none.
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

  /// Starts the publishing thread. Throws std::invalid_argument for no publisher or a depth of 0,
  /// std::system_error with cause and fix when the thread cannot have its scheduling.
  RCLRT_SETUP explicit RealtimePublisher(std::shared_ptr<rclcpp::Publisher<MessageT>> publisher,
                                         const RealtimePublisherOptions& options = {},
                                         const MessageT& prototype = MessageT())
      : RealtimePublisherBase(options),
        publisher_(std::move(publisher)),
        messages_(options.depth, prototype) {
    if (publisher_ == nullptr) {
      throw std::invalid_argument("a RealtimePublisher without a publisher");
    }
    start(publisher_->get_topic_name());
  }
  /// Publishes what was handed over, and ends the thread.
  ~RealtimePublisher() override { stop(); }

  /// Borrows a message that holds what it held when it was last published. From one thread at a
  /// time, and one at a time.
  [[nodiscard]] Loan borrow() noexcept RCLRT_NONBLOCKING { return Loan(*this, take_free()); }

  /// Copies a message and hands it over; returns false, and counts, when there is no room. A copy
  /// allocates if it is longer than the prototype was.
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
