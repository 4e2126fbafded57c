// SPDX-License-Identifier: Apache-2.0
// Callbacks for work that is announced by number: an instance takes one message, or the newest.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <rclcpp/rclcpp.hpp>

#include "entity_callback.hpp"
#include "listener_slot.hpp"
#include "undelivered_work.hpp"

namespace rclrt_rclcpp {

/// The number of instances that are preallocated for subscriptions with KEEP_ALL or a very deep
/// queue. With KEEP_ALL the middleware drops nothing, so no fixed number is enough; for a very deep
/// queue one instance per message would be wasteful. In both cases, messages that have no instance
/// are counted, and announced when earlier instances have run.
inline constexpr std::size_t kCountedCredits = 64;
inline constexpr std::size_t kDeepest = 1000;

/// Keys of the work that is left behind: with its number, or with an unknown number.
inline constexpr int kSoMany = 0;
inline constexpr int kUnknown = 1;

inline bool is_counted(const rclcpp::QoS& qos) {
  return qos.history() == rclcpp::HistoryPolicy::KeepAll || qos.depth() > kDeepest;
}

inline std::size_t credits_of(const rclcpp::QoS& qos) {
  return is_counted(qos) ? kCountedCredits : std::max<std::size_t>(qos.depth(), 1);
}

template <typename Entity>
class MessageCallback : public CountingCallback, public Listener, private WorkListener {
 public:
  MessageCallback(const std::shared_ptr<Entity>& entity, const rclcpp::QoS& qos,
                  const engine::CallbackOptions& options, Changes& changes)
      : CountingCallback(options),
        Listener(changes),
        entity_(entity),
        counted_(is_counted(qos) && options.overload == engine::Overload::kQueue) {}

  void listen() override {
    if (const auto entity = entity_.lock()) {
      const UndeliveredWork::Counts left = UndeliveredWork::instance().take(entity_);
      // This must come before anything runs: an instance that does not look for more messages would
      // not be counted.
      has_more_.store(left.contains(kUnknown) && takes_one());
      const void* const slot = slot_.open(*this);
      // The function is set twice, because rmw_fastrtps first counts the waiting messages and then
      // sets the function. A message that arrives in between would only be announced with the next
      // message; setting the function again announces it.
      for (int i = 0; i < 2; ++i) {
        if (const rcl_ret_t ret = set_listener(*entity, &ListenerSlot::notify, slot);
            ret != RCL_RET_OK) {
          slot_.close();
          for (const auto& [key, count] : left) {
            UndeliveredWork::instance().keep(entity_, key, count);
          }
          rclcpp::exceptions::throw_from_rcl_error(ret, "cannot listen for '" + name() + "'");
        }
      }
      for (const auto& [key, count] : left) {
        notify(key == kUnknown ? 1 : count);
      }
    }
  }
  void unlisten() override {
    if (const auto entity = entity_.lock(); entity && end_listener(entity) != RCL_RET_OK) {
      rcl_reset_error();  // rcl sets an error that is not reported
    }
    slot_.close();
  }
  void leave_rest() override {
    const std::size_t discarded = take_undelivered();
    const std::size_t announced = counted_ ? waiting_.take_all() : discarded;
    const std::size_t left = announced + take_unannounced();
    UndeliveredWork::instance().keep(entity_, kSoMany, left);
    // One instance may represent several messages.
    if (has_more_.exchange(false) || (left > 0 && !takes_one())) {
      UndeliveredWork::instance().keep(entity_, kUnknown, 1);
    }
  }

 protected:
  void attach() override { start_listening(); }
  void detach() noexcept override { stop_listening(); }

  void announce(std::size_t count) noexcept RCLRT_NONBLOCKING override {
    if (counted_) {
      waiting_.add(count);
    }
    std::size_t refused = 0;
    for (std::size_t i = 0; i < count; ++i) {
      refused += announce_message() ? 0 : 1;
    }
    if (refused > 0 && takes_one()) {
      if (!counted_) {
        has_more_.store(true);
      }
      if (coming() == 0) {
        announce_message();
      }
    }
  }

  engine::Outcome run(engine::InstanceInfo& info) override {
    Taking taking(*this);
    const auto entity = entity_.lock();
    return entity ? take_and_run(*entity, info, taking) : gone();
  }

  /// The scope in which an instance looks for its message.
  class Taking {
   public:
    explicit Taking(MessageCallback& self)
        : self_(self), has_more_(self.has_more_.load() && self.has_more_.exchange(false)) {}
    ~Taking() {
      if (!ended_) {
        self_.announce_rest(false);
      }
    }
    Taking(const Taking&) = delete;
    Taking& operator=(const Taking&) = delete;

    void found() noexcept {
      ended_ = true;
      self_.announce_rest(has_more_);
    }

   private:
    MessageCallback& self_;
    // The value of has_more_ before the message was taken; has_more_ was cleared then. An
    // announcement that comes later sets it again, and the message of an earlier one is visible to
    // this take.
    const bool has_more_;
    bool ended_ = false;
  };
  /// Marks the execution of user code with the taken message.
  class Running {
   public:
    /// Begins; the data counts from the arrival of the message, because nothing older is known.
    Running(MessageCallback& self, engine::InstanceInfo& info, Taking& taking)
        : running_(self, info) {
      taking.found();
    }
    /// Begins; `origin`: the time from which the data of the message counts.
    Running(MessageCallback& self, engine::InstanceInfo& info, Taking& taking, Origin origin)
        : running_(self, info, origin) {
      taking.found();
    }

   private:
    const Listener::Running running_;
  };

  /// Returns whether an instance takes one message; with the other policies it takes all that wait.
  bool takes_one() const noexcept RCLRT_NONBLOCKING {
    return overload() == engine::Overload::kQueue;
  }

  /// Sets the notification function by rcl's own API. rclcpp's API would store the function in the
  /// rclcpp entity, which may be destroyed before the entity of the middleware (see ListenerSlot).
  virtual rcl_ret_t set_listener(Entity& entity, rcl_event_callback_t function,
                                 const void* user_data) = 0;
  virtual rcl_ret_t end_listener(const std::shared_ptr<Entity>& entity) {
    return set_listener(*entity, nullptr, nullptr);
  }
  virtual engine::Outcome take_and_run(Entity& entity, engine::InstanceInfo& info,
                                       Taking& taking) = 0;

 private:
  void on_new_work(std::size_t count) noexcept override { notify(count); }

  /// Announces an instance for a message. Returns false if there is no credit. If messages are
  /// counted, the message is then not dropped: it stays in the middleware.
  bool announce_message() noexcept RCLRT_NONBLOCKING {
    return (!counted_ || coming() < kCountedCredits) && announce_one();
  }

  /// Records that an instance has taken its message, or found none. `has_more`: more messages may
  /// wait. If messages wait and no instance is coming for them, announces one more instance.
  void announce_rest(bool has_more) noexcept {
    if (has_more) {
      has_more_.store(true);
    }
    if (counted_) {
      waiting_.take_one();
    }
    if (came_last() && (has_more_.load() || !waiting_.empty())) {
      announce_message();
    }
  }

  const std::weak_ptr<Entity> entity_;
  const bool counted_;
  ListenerSlot slot_;
  // The recorded work of CountingCallback's invariant is in the next two members. waiting_ is used
  // if counted_ is true: the number of messages that were announced and have not been taken.
  engine::WorkCount waiting_;
  // Used if counted_ is false. true: messages may wait that have no instance. Either there was no
  // credit, and it is unknown whether the new message replaced another one (KEEP_LAST is by key);
  // or messages came while there was no listener. An instance that took a message then looks for
  // another one; an instance that finds none ends the search.
  std::atomic<bool> has_more_{false};
};

template <typename Callback, typename Entity>
Bound make_bound(const Entity& entity, const rclcpp::QoS& qos, engine::CallbackOptions& options,
                 Changes& changes) {
  options.credits = credits_of(qos);
  const auto made = std::make_shared<Callback>(entity, qos, options, changes);
  return {made, made};
}

}  // namespace rclrt_rclcpp
