// SPDX-License-Identifier: Apache-2.0
// What is told of by number: an instance takes one message, or the newest.
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

/// With KEEP_ALL the middleware drops nothing, and no fixed number of instances is enough; with
/// very deep queues it would be a waste. Then what finds no credit is counted, and announced when
/// those before it have run.
inline constexpr std::size_t kCountedCredits = 64;
inline constexpr std::size_t kDeepest = 1000;

/// Keys of what is left behind: so many, or nobody knows how many.
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
      // Before anything runs: an instance that did not look on, and runs, would not be counted.
      looks_on_.store(left.contains(kUnknown) && takes_one());
      const void* const slot = slot_.open(*this);
      // Twice: rmw_fastrtps first counts what waits and then sets the function, and tells of what
      // comes in between only with the next message, or when it is set again.
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
      rcl_reset_error();  // it tells on, to nobody
    }
    slot_.close();
  }
  void leave_rest() override {
    const std::size_t discarded = take_undelivered();
    const std::size_t announced = counted_ ? waiting_.take_all() : discarded;
    const std::size_t left = announced + take_unannounced();
    UndeliveredWork::instance().keep(entity_, kSoMany, left);
    // One instance may have stood for several messages.
    if (looks_on_.exchange(false) || (left > 0 && !takes_one())) {
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
        looks_on_.store(true);
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

  /// From the look for a message on, until there is one, or none.
  class Taking {
   public:
    explicit Taking(MessageCallback& self)
        : self_(self), looks_on_(self.looks_on_.load() && self.looks_on_.exchange(false)) {}
    ~Taking() {
      if (!ended_) {
        self_.look_for_rest(false);
      }
    }
    Taking(const Taking&) = delete;
    Taking& operator=(const Taking&) = delete;

    void found() noexcept {
      ended_ = true;
      self_.look_for_rest(looks_on_);
    }

   private:
    MessageCallback& self_;
    // Taken away before the message: what is told of from here on sets it again, and what was told
    // of before is there to be found.
    const bool looks_on_;
    bool ended_ = false;
  };
  /// For the time of user code, with what was taken.
  class Running {
   public:
    /// Begins; the data of what was taken counts from its arrival, before which nothing is known.
    Running(MessageCallback& self, engine::InstanceInfo& info, Taking& taking)
        : running_(self, info) {
      taking.found();
    }
    /// Begins; `origin`: since when the data of what was taken counts.
    Running(MessageCallback& self, engine::InstanceInfo& info, Taking& taking, Origin origin)
        : running_(self, info, origin) {
      taking.found();
    }

   private:
    const Listener::Running running_;
  };

  /// Whether an instance takes one message; with the other policies it takes all that wait.
  bool takes_one() const noexcept RCLRT_NONBLOCKING {
    return overload() == engine::Overload::kQueue;
  }

  /// rcl's own functions: rclcpp keeps its function in the entity, which may end before the
  /// middleware's (see ListenerSlot).
  virtual rcl_ret_t set_listener(Entity& entity, rcl_event_callback_t function,
                                 const void* user_data) = 0;
  virtual rcl_ret_t end_listener(const std::shared_ptr<Entity>& entity) {
    return set_listener(*entity, nullptr, nullptr);
  }
  virtual engine::Outcome take_and_run(Entity& entity, engine::InstanceInfo& info,
                                       Taking& taking) = 0;

 private:
  void on_new_work(std::size_t count) noexcept override { notify(count); }

  /// False if there is no credit. What is counted is no drop then: it stays in the middleware.
  bool announce_message() noexcept RCLRT_NONBLOCKING {
    return (!counted_ || coming() < kCountedCredits) && announce_one();
  }

  /// An instance has taken its message, or there was none; `looks_on`: more may wait. If nobody
  /// comes for them, one more instance.
  void look_for_rest(bool looks_on) noexcept {
    if (looks_on) {
      looks_on_.store(true);
    }
    if (counted_) {
      waiting_.take_one();
    }
    if (came_last() && (looks_on_.load() || !waiting_.empty())) {
      announce_message();
    }
  }

  const std::weak_ptr<Entity> entity_;
  const bool counted_;
  ListenerSlot slot_;
  // What is written down, see CountingCallback: these two.
  // If counted_: messages that were announced and have not been taken.
  engine::WorkCount waiting_;
  // Otherwise: messages may wait that have no instance. Somebody found no credit, and it is not
  // known whether its message has replaced another one: KEEP_LAST is by key. Or they came while
  // nobody listened. Who has taken one looks for another, and who finds none ends this.
  std::atomic<bool> looks_on_{false};
};

template <typename Callback, typename Entity>
Bound make_bound(const Entity& entity, const rclcpp::QoS& qos, engine::CallbackOptions& options,
                 Changes& changes) {
  options.credits = credits_of(qos);
  const auto made = std::make_shared<Callback>(entity, qos, options, changes);
  return {made, made};
}

}  // namespace rclrt_rclcpp
