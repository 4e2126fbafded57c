// SPDX-License-Identifier: Apache-2.0
// Waitables: actions, QoS events, and those of users.
#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <memory>
#include <rclcpp/experimental/subscription_intra_process_base.hpp>
#include <utility>

#include "entity_callback.hpp"
#include "mailbox.hpp"
#include "undelivered_work.hpp"

namespace rclrt_rclcpp {

namespace {

using engine::InstanceInfo;
using engine::Outcome;

/// Runs a waitable. A waitable announces which of its entities is ready, by a number, and expects
/// that number when the event is taken. An instance of the engine has no such number. So events are
/// counted for each entity, and each instance takes one of the counted events.
///
/// Invariant: while an event is counted, an instance is coming that takes the event or looks for
/// it; see CountingCallback. So no event is lost, however many come at the same time.
class WaitableCallback final : public CountingCallback,
                               public Listener,
                               public std::enable_shared_from_this<WaitableCallback> {
 public:
  static constexpr std::size_t kCredits = 16;

  WaitableCallback(const rclcpp::Waitable::SharedPtr& waitable,
                   const engine::CallbackOptions& options, Changes& changes)
      : CountingCallback(options), Listener(changes), waitable_(waitable) {}

  void listen() override {
    if (const auto waitable = waitable_.lock()) {
      const auto notify = [self = shared_from_this()](std::size_t count, int entity) {
        self->count(count, entity);
      };
      if (waitable->get_number_of_ready_services() > 0) {  // an action server
        mailbox_ = Mailbox::of(waitable_);
        mailbox_->open(notify);
        // Set again: another executor may have set its own meanwhile.
        waitable->set_on_ready_callback([mailbox = mailbox_](std::size_t count, int entity) {
          mailbox->notify(count, entity);
        });
      } else {
        waitable->set_on_ready_callback(notify);
      }
      for (const auto& [entity, count] : UndeliveredWork::instance().take(waitable_)) {
        this->count(count, entity);
      }
    }
  }
  void unlisten() override {
    if (mailbox_) {
      mailbox_->close();
    } else if (const auto waitable = waitable_.lock()) {
      waitable->clear_on_ready_callback();
    }
  }
  void leave_rest() override {
    take_undelivered();
    take_unannounced();
    for (Events& each : events_) {
      UndeliveredWork::instance().keep(waitable_, each.entity.load(), each.count.take_all());
    }
  }

 private:
  /// Events of one entity of the waitable.
  struct Events {
    std::atomic<int> entity{kUnused};
    engine::WorkCount count;
  };
  static constexpr int kUnused = INT_MIN;

  void attach() override { start_listening(); }
  void detach() noexcept override { stop_listening(); }

  void announce(std::size_t count) noexcept RCLRT_NONBLOCKING override {
    bool refused = false;
    for (std::size_t i = 0; i < count; ++i) {
      refused = !announce_one() || refused;
    }
    if (refused && coming() == 0) {
      announce_one();
    }
  }

  void count(std::size_t count, int entity) {
    Events* const events = events_of(entity);
    if (events == nullptr) {
      RCLCPP_ERROR(rclcpp::get_logger("rclrt_rclcpp"),
                   "%s: a waitable with more than %zu entities is not supported; an event of "
                   "entity %d is lost",
                   name().c_str(), events_.size(), entity);
      return;
    }
    events->count.add(count);
    notify(count);
  }

  /// Returns the place for the events of this entity. An entity that has no place gets an unused
  /// one, and keeps it for good. nullptr: all places are in use.
  Events* events_of(int entity) noexcept {
    for (Events& each : events_) {
      int of = each.entity.load();
      if (of == kUnused && each.entity.compare_exchange_strong(of, entity)) {
        return &each;
      }
      if (of == entity) {
        return &each;
      }
    }
    return nullptr;
  }

  /// Takes one event of one of the entities; returns nullptr if there is none. The entities take
  /// turns, so that none of them starves.
  Events* take_one() noexcept {
    const std::size_t first = next_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      Events& each = events_[(first + i) % events_.size()];
      if (each.count.take_one()) {
        next_.store(first + i + 1, std::memory_order_relaxed);  // only fairness depends on it
        return &each;
      }
    }
    return nullptr;
  }

  bool has_more() const noexcept {
    return std::any_of(events_.begin(), events_.end(),
                       [](const Events& each) { return !each.count.empty(); });
  }

  Outcome run(InstanceInfo& info) override {
    const auto waitable = waitable_.lock();
    const Events* const events = waitable ? take_one() : nullptr;
    if (came_last() && waitable && has_more()) {
      announce_one();
    }
    if (!waitable) {
      return gone();
    }
    if (events == nullptr) {
      return Outcome::kEmpty;
    }
    const auto data =
        waitable->take_data_by_entity_id(static_cast<std::size_t>(events->entity.load()));
    const Running running(*this, info);
    waitable->execute(data);
    return Outcome::kRan;
  }

  const std::weak_ptr<rclcpp::Waitable> waitable_;
  std::shared_ptr<Mailbox> mailbox_;  // of an action server
  std::array<Events, 32> events_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace

Bound bind(const rclcpp::Waitable::SharedPtr& waitable, engine::CallbackOptions options,
           Changes& changes) {
  using IntraProcess = rclcpp::experimental::SubscriptionIntraProcessBase;
  if (const auto intra_process = std::dynamic_pointer_cast<IntraProcess>(waitable)) {
    return bind(intra_process, std::move(options), changes);
  }
  options.type = engine::EntityType::kWaitable;
  options.credits = WaitableCallback::kCredits;
  options.overload = engine::Overload::kQueue;
  const auto made = std::make_shared<WaitableCallback>(waitable, options, changes);
  return {made, made};
}

}  // namespace rclrt_rclcpp
