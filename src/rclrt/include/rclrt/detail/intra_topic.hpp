// SPDX-License-Identifier: Apache-2.0
// Publishers and subscriptions of one context pass messages by reference.
#pragma once

#include <rmw/qos_profiles.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rclrt/export.hpp"
#include "rclrt/loan.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::detail {

/// Returns whether the middleware must receive every message of a topic with this QoS: it keeps
/// some for subscriptions that join late, or it checks the times between them.
RCLRT_EXPORT bool middleware_must_see(const rmw_qos_profile_t& qos) noexcept;

/// A message in the pool of a topic. Each holder may read the message. A holder may write the
/// message only while no other holder exists. The topic's mutex guards both fields.
struct IntraSlot {
  std::uint32_t holders = 0;  ///< rings that it waits in, callbacks that read it, the loan
  IntraSlot* next = nullptr;  ///< the link of the free list, without holders
};

/// The receiving end of an intra-process subscription: a ring of the messages that wait for its
/// callback. It joins its topic after construction, and must leave the topic before destruction.
class RCLRT_EXPORT IntraReader {
 public:
  /// Makes a reader with a ring for `depth` messages. `running` is the number of its callbacks that
  /// may run at the same time; each of them may hold one message more.
  RCLRT_SETUP IntraReader(const rmw_qos_profile_t& qos, std::size_t depth, std::size_t running);
  virtual ~IntraReader() = default;
  IntraReader(const IntraReader&) = delete;
  IntraReader& operator=(const IntraReader&) = delete;

  /// Returns how many messages wait. With the topic's mutex held.
  std::size_t waiting() const noexcept RCLRT_NONBLOCKING { return size_; }

 protected:
  /// Announces that a message was added to the ring. The topic is locked during the call, so the
  /// function must not call the topic.
  virtual void on_message() noexcept = 0;

 private:
  friend class IntraTopic;

  struct Waiting {
    IntraSlot* slot = nullptr;
    std::int64_t ready_ns = 0;
    std::int64_t expires_ns = 0;
  };

  const rmw_qos_profile_t qos_;
  const std::size_t slots_;  // that it can hold at once
  // The topic's mutex guards the rest.
  std::vector<Waiting> ring_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

/// A publisher's end. It joins and leaves as a reader does.
class RCLRT_EXPORT IntraWriter {
 public:
  /// Makes a writer: its user may hold `loans` messages at once.
  RCLRT_SETUP IntraWriter(const rmw_qos_profile_t& qos, std::size_t loans);

  /// Returns how many subscriptions a message goes to.
  std::size_t matched() const noexcept RCLRT_NONBLOCKING { return count_.load(); }

 private:
  friend class IntraTopic;

  const rmw_qos_profile_t qos_;
  const std::size_t slots_;
  const std::int64_t lifespan_ns_;     // of its messages
  std::vector<IntraReader*> matched_;  // guarded by the topic's mutex
  std::atomic<std::size_t> count_{0};  // its size, written with the mutex held
};

/// All publishers and intra-process subscriptions of one topic and type in one context, and the
/// pool of messages between them. The pool grows when a publisher or subscription joins, up to the
/// number of messages that all of them can hold at once. If no slot is free, a message is not sent.
/// Thread-safe.
///
/// One lock with priority inheritance guards the pool, the rings and the matching of writers with
/// readers. It is held for a few instructions per matched subscription. No thread waits for another
/// lock while it holds this one (except for wait_set's guard conditions), and no user code runs
/// under it.
class RCLRT_EXPORT IntraTopic : public LoanOwner {
 public:
  RCLRT_SETUP IntraTopic() = default;
  ~IntraTopic() override = default;

  RCLRT_SETUP void join(IntraReader& reader);
  RCLRT_SETUP void join(IntraWriter& writer);
  /// Removes a reader; the messages in its ring go back to the pool.
  RCLRT_SETUP void leave(IntraReader& reader) noexcept;
  RCLRT_SETUP void leave(IntraWriter& writer) noexcept;

  /// Returns whether the QoS of one of the writers is incompatible with that of the reader.
  RCLRT_SETUP bool has_mismatch(const IntraReader& reader);
  /// Returns whether the QoS of one of the readers is incompatible with that of the writer.
  RCLRT_SETUP bool has_mismatch(const IntraWriter& writer);
  /// Returns how many writers send their messages to the reader.
  RCLRT_SETUP std::size_t count_writers(const IntraReader& reader);

  /// Returns a slot with the caller as its only holder; nullptr if all slots are held.
  IntraSlot* borrow() noexcept RCLRT_WAITS;
  /// Adds the message in `slot` to the ring of every matched subscription. In a full ring it
  /// replaces the oldest message. The caller still holds the slot afterwards, and must not write to
  /// it any more.
  void hand_over(const IntraWriter& writer, IntraSlot* slot) noexcept RCLRT_WAITS;
  /// Takes the oldest message of the reader's ring that has not exceeded its lifespan, and sets
  /// `ready_ns` to the time at which it was added. The caller then holds the slot. Returns nullptr
  /// if there is no such message, or if it was added before `not_before_ns`; it then stays in the
  /// ring.
  IntraSlot* take(IntraReader& reader, std::int64_t& ready_ns,
                  std::int64_t not_before_ns) noexcept RCLRT_WAITS;
  /// Removes the messages that wait since before `time_ns`.
  void discard_before(IntraReader& reader, std::int64_t time_ns) noexcept RCLRT_WAITS;
  /// Ends the caller's hold on the slot. The last holder gives the slot back to the pool.
  void return_slot(IntraSlot* slot) noexcept RCLRT_WAITS;

  void give_back(void* token) noexcept override { return_slot(static_cast<IntraSlot*>(token)); }

  /// Returns the mutex that guards the state that `on_message` uses.
  realtime::PiMutex& mutex() noexcept { return mutex_; }

 protected:
  /// Makes `count` slots, linked, and keeps them until the topic ends.
  RCLRT_SETUP virtual IntraSlot* make_slots(std::size_t count) = 0;

 private:
  using Matches = std::vector<std::vector<IntraReader*>>;

  void grow(std::size_t more);
  Matches match() const;
  void apply_matches(Matches& matches) noexcept;
  void drop(IntraSlot* slot) noexcept;

  std::mutex joining_;  // guards the next four; before mutex_; never on a message's path
  std::vector<IntraReader*> readers_;
  std::vector<IntraWriter*> writers_;
  std::size_t wanted_ = 0;  // slots that they can hold at once
  std::size_t slots_ = 0;   // that exist

  // Each slot either is in free_ and has no holder, or its number of holders is the number of
  // rings, callbacks and loans that refer to it.
  realtime::PiMutex mutex_;
  IntraSlot* free_ = nullptr;
};

template <typename T>
struct IntraSlotOf : IntraSlot {
  T message{};
};

template <typename T>
class IntraTopicOf final : public IntraTopic {
 protected:
  RCLRT_SETUP IntraSlot* make_slots(std::size_t count) override {
    storage_.push_back(std::make_unique<IntraSlotOf<T>[]>(count));
    IntraSlotOf<T>* const slots = storage_.back().get();
    for (std::size_t i = 0; i + 1 < count; ++i) {
      slots[i].next = &slots[i + 1];
    }
    return slots;
  }

 private:
  std::vector<std::unique_ptr<IntraSlotOf<T>[]>> storage_;
};

}  // namespace rclrt::detail
