// SPDX-License-Identifier: Apache-2.0
// The executor's state for each rclcpp entity that it runs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <rclcpp/experimental/subscription_intra_process_base.hpp>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/notified_callback.hpp"
#include "rclrt/executor/timer.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "rclrt_rclcpp/observer.hpp"
#include "rclrt_rclcpp/origins.hpp"
#include "rclrt_rclcpp/stamped_ends.hpp"
#include "response_times.hpp"

namespace rclrt_rclcpp {

namespace engine = rclrt::executor;

/// Flags for the executor that its data is out of date. Thread-safe, never waits.
class Changes final : public UnknownPublisherListener {
 public:
  void note() noexcept {
    noted_.store(true);
    bell_.notify_one();
  }
  /// Returns whether a change was noted since the last call.
  bool take() noexcept { return noted_.exchange(false); }

  void on_unknown_publisher() noexcept RCLRT_NONBLOCKING override {
    publisher_noted_.store(true);
    bell_.notify_one();
  }
  bool publisher_noted() const noexcept { return publisher_noted_.load(); }
  void take_publisher() noexcept { publisher_noted_.store(false); }

  bool noted() const noexcept { return noted_.load(); }
  rclrt::realtime::EventCount& bell() noexcept { return bell_; }

 private:
  std::atomic<bool> noted_{true};
  std::atomic<bool> publisher_noted_{false};
  rclrt::realtime::EventCount bell_;
};

/// Counts messages of a subscription with a largest age.
struct AgeCounters {
  std::uint64_t unstamped = 0;         ///< had a header with an impossible stamp
  std::uint64_t from_publication = 0;  ///< had no header, and the origin of its data is not shared
};

/// Connects an rclcpp entity to its engine callback. The entity belongs to the user and may be
/// destroyed at any time. So only a weak pointer is held, and the entity is kept alive only while
/// its callback runs. `listen` and `unlisten` take locks of rclcpp and of the middleware, so they
/// are never called while a lock of the engine is held.
class Listener : public ObservedEntity {
 public:
  explicit Listener(Changes& changes) : changes_(changes) {}
  ~Listener() override = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Starts the notifications of the entity, also for the work that waits already.
  virtual void listen() = 0;
  /// Ends the notifications.
  virtual void unlisten() = 0;
  /// Stores in the entity how many messages were announced and have not run, for the entity's next
  /// listener. Called after the callback was removed from the executor.
  virtual void leave_rest() {}

  bool goes_on(Kept& /*kept*/) const override { return true; }

  /// Makes the listener report taken messages to `observer`. Called before `listen`. The observer
  /// must outlive the callback.
  void notify_of_messages(ExecutorObserver& observer) noexcept { observer_ = &observer; }

  /// Starts to measure the responses of instances. Called before `listen`.
  void measure() { responses_ = std::make_shared<ResponseTimes>(); }
  /// Returns the measured responses; nullptr: they are not measured.
  const std::shared_ptr<ResponseTimes>& responses() const noexcept { return responses_; }

  /// Options for the age of a subscription's messages.
  struct AgeOptions {
    bool is_limited = false;                // the deadline counts from the origin of the data
    std::shared_ptr<OriginReader> origins;  // of messages without a stamp; nullptr: not asked for
    bool is_noted = false;                  // the stamp is noted with the end: see note_ends
  };
  /// Makes the age of messages count from their stamps: for this subscription, or for the
  /// subscription of which this waitable delivers the messages. Called once; with `is_limited`,
  /// before `listen`.
  virtual void count_from_stamp(const rclcpp::SubscriptionBase& /*subscription*/,
                                AgeOptions /*options*/) {}
  /// Returns the counts of messages with a deadline that counts from the origin of the data.
  virtual AgeCounters age_counters() const noexcept {
    return {.unstamped = 0, .from_publication = from_publication_.load(std::memory_order_relaxed)};
  }

  /// Makes the listener add each instance with the stamp of its message to `to`. Called before
  /// `listen`.
  void note_ends(std::shared_ptr<StampedEnds> to) { ends_ = std::move(to); }
  /// The stamp of the message that the calling thread has just taken, until its callback begins.
  static std::int64_t& stamp_here() noexcept RCLRT_NONBLOCKING {
    static thread_local std::int64_t stamp_ns = 0;
    return stamp_ns;
  }

  /// Makes the deadline of a timer's instances count from the oldest data that they sample; of an
  /// instance that samples none, from its release. Called before `listen`.
  void limit_sampled_age() noexcept { limits_sampled_age_ = true; }
  /// Returns the time from the oldest sampled data to the release of an instance that has run.
  TimeBefore before_release(const engine::InstanceInfo& info) const noexcept {
    return limits_sampled_age_ && info.since_ns != 0
               ? before_release_.note(std::max<std::int64_t>(info.release_ns - info.since_ns, 0))
               : TimeBefore();
  }

  /// Starts to write the origin of the data of each instance to `to`. Called before `listen`.
  void share_origins(std::shared_ptr<OriginWriter> to) { origins_ = std::move(to); }
  /// Returns whether a reader wants these origins. `now_ns`: CLOCK_MONOTONIC.
  bool shares_origins(std::int64_t now_ns) const noexcept {
    return origins_ != nullptr && origins_->is_wanted(now_ns);
  }

  /// Returns how often the calling thread has begun to run user code, of any executor.
  static std::uint64_t runs_here() noexcept { return runs_of_thread(); }

  /// Returns the origin of the data of the callback that the calling thread runs: see
  /// rclrt_rclcpp::current_origin.
  static Origin origin_here() noexcept RCLRT_NONBLOCKING {
    const Running* const running = Running::innermost();
    return running != nullptr ? running->origin() : Origin();
  }
  /// Notes the origin of further data of that callback: see rclrt_rclcpp::use_origin.
  static void use_here(Origin origin) noexcept RCLRT_NONBLOCKING {
    if (const Running* const running = Running::innermost();
        running != nullptr && origin.since_ns != 0) {
      running->use(origin);
    }
  }

 protected:
  /// Marks the execution of user code, for its scope.
  class Running {
   public:
    /// Whether the release of an instance is the origin of its data.
    enum class Begins : bool { kNo, kUnlessItSamples };

    /// Begins; the data counts from the release, because nothing older is known.
    Running(Listener& listener, engine::InstanceInfo& info)
        : Running(listener, info, Origin{info.release_ns, false}) {}
    /// Begins; `origin`: the time from which the data counts. kUnlessItSamples: only until the
    /// instance uses other data.
    Running(Listener& listener, engine::InstanceInfo& info, Origin origin,
            Begins begins = Begins::kNo)
        : listener_(listener),
          info_(info),
          outer_(innermost()),
          stamp_ns_(std::exchange(stamp_here(), 0)),
          origin_(origin),
          begins_(begins) {
      innermost() = this;
      ++runs_of_thread();
      info.start_ns = rclrt::realtime::monotonic_now_ns();
      if (listener.shares_origins(info.start_ns)) {
        place_ = listener.origins_->begin(origin);
      }
    }
    ~Running() {
      if (place_ != nullptr) {
        listener_.origins_->end(place_);
      }
      listener_.note_sampled(info_, origin_);
      if (listener_.responses_) {
        listener_.responses_->note(info_, rclrt::realtime::monotonic_now_ns());
      }
      if (listener_.ends_) {
        listener_.ends_->note({stamp_ns_, rclrt::realtime::read_clock_ns(CLOCK_MONOTONIC_RAW)});
      }
      innermost() = outer_;
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    Origin origin() const noexcept { return origin_; }

    /// Notes that the instance also uses data of this origin from now on. Messages that it
    /// publishes from now on count from the oldest of its data.
    void use(Origin origin) const noexcept RCLRT_NONBLOCKING {
      if (begins_ == Begins::kUnlessItSamples || origin_.since_ns == 0) {
        begins_ = Begins::kNo;
      } else {
        origin = rclrt::realtime::older(origin, origin_);
      }
      const bool is_news =
          origin.since_ns != origin_.since_ns || origin.is_whole != origin_.is_whole;
      origin_ = origin;
      if (listener_.limits_sampled_age_) {
        // A time that user code states may be of another clock. Data are not from the future.
        info_.since_ns = std::min(origin.since_ns, info_.start_ns);
      }
      // Readers find the instance by the time of a publication. Earlier messages keep their origin:
      // the place ends, and another one begins.
      if (place_ != nullptr && is_news) {
        listener_.origins_->end(place_);
        place_ = listener_.origins_->begin(origin_);
      }
    }

    /// Returns the innermost one of the calling thread, which it may replace; nullptr: there is
    /// none. A callback may spin another executor on its thread.
    static const Running*& innermost() noexcept RCLRT_NONBLOCKING {
      static thread_local const Running* running = nullptr;
      return running;
    }

   private:
    Listener& listener_;
    engine::InstanceInfo& info_;
    const Running* const outer_;
    const std::int64_t stamp_ns_;
    // Changed by `use`, on the thread of the instance.
    mutable Origin origin_;
    mutable Begins begins_;
    mutable void* place_ = nullptr;
  };

  /// Returns the observer of taken messages; nullptr: there is none.
  ExecutorObserver* observer() const noexcept { return observer_; }

  /// Notes that the entity has ended: there is nothing to run.
  engine::Outcome gone() noexcept {
    changes_.note();
    return engine::Outcome::kEmpty;
  }

 private:
  /// Counts an instance of a timer that has sampled data of this origin.
  void note_sampled(const engine::InstanceInfo& info, const Origin& origin) noexcept {
    if (!limits_sampled_age_ || info.since_ns == 0) {
      return;
    }
    before_release(info);
    if (!origin.is_whole) {
      from_publication_.fetch_add(1, std::memory_order_relaxed);  // statistics only
    }
  }

  static std::uint64_t& runs_of_thread() noexcept {
    thread_local std::uint64_t runs = 0;
    return runs;
  }

  Changes& changes_;
  ExecutorObserver* observer_ = nullptr;
  std::shared_ptr<ResponseTimes> responses_;
  std::shared_ptr<OriginWriter> origins_;
  std::shared_ptr<StampedEnds> ends_;
  bool limits_sampled_age_ = false;  // constant from `listen` on
  mutable LeastTime before_release_;
  std::atomic<std::uint64_t> from_publication_{0};  // relaxed: statistics only
};

/// Counts the coming instances: those that were submitted and have not yet taken their work. Before
/// the last of them runs user code, which may take long, it looks for work that has no instance.
///
/// Invariant: a thread that announces work first records the work. If there is no credit for an
/// instance, it then reads the number of coming instances. An instance that brings this number to 0
/// reads the recorded work afterwards (all seq_cst). So either the instance sees the work, or the
/// thread sees that no instance is coming. The engine gives a credit back before it runs the
/// instance. So while a credit is out, the number is not 0 or about to be raised, and that instance
/// looks.
class CountingCallback : public engine::NotifiedCallback {
 public:
  using NotifiedCallback::NotifiedCallback;

 protected:
  /// Returns false if there is no credit.
  bool announce_one() noexcept RCLRT_NONBLOCKING {
    const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns();
    engine::Instance* const instance = make_instance(now_ns, now_ns);
    if (instance == nullptr) {
      return false;
    }
    coming_.fetch_add(1);  // before it can run
    submit(instance);
    return true;
  }
  std::size_t coming() const noexcept RCLRT_NONBLOCKING { return coming_.load(); }
  /// Counts that an instance has taken its work, or found none. Returns true if no other instance
  /// is coming.
  bool came_last() noexcept { return coming_.fetch_sub(1) == 1; }

 private:
  std::atomic<std::size_t> coming_{0};
};

/// A listener that is an engine callback.
struct Bound {
  std::shared_ptr<engine::Callback> callback;
  std::shared_ptr<Listener> listener;  // the same object
};

/// Makes the engine callback of an entity. `options` contain name, level, overload, group and
/// deadline; these functions set the rest. They throw std::invalid_argument for an overload policy
/// that the entity cannot have.
Bound bind(const rclcpp::SubscriptionBase::SharedPtr& subscription, engine::CallbackOptions options,
           Changes& changes);
Bound bind(const rclcpp::ServiceBase::SharedPtr& service, engine::CallbackOptions options,
           Changes& changes);
Bound bind(const rclcpp::ClientBase::SharedPtr& client, engine::CallbackOptions options,
           Changes& changes);
/// Makes the engine callback of a waitable. If the waitable delivers the intra-process messages of
/// a subscription, the last of these functions makes the callback.
Bound bind(const rclcpp::Waitable::SharedPtr& waitable, engine::CallbackOptions options,
           Changes& changes);
Bound bind(const rclcpp::experimental::SubscriptionIntraProcessBase::SharedPtr& waitable,
           engine::CallbackOptions options, Changes& changes);

}  // namespace rclrt_rclcpp
