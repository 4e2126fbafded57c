// SPDX-License-Identifier: Apache-2.0
// What the tests of conformance share: the kinds in the registry, and applications on the engine
// without a middleware.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "rclrt/executor/kinds.hpp"
#include "rclrt/executor/timer.hpp"
#include "rclrt/executor/wait_set_executor.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_choice.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/recorder/model_conversion.hpp"

namespace rclrt::simulator {

/// Returns the names of all kinds that run, and of each with an option that leaves it bounds.
inline std::vector<std::string> names_in_registry() {
  std::vector<std::string> names;
  for (const model::ExecutorTraits& kind : model::executor_kinds()) {
    if (kind.simulated_only) {
      continue;
    }
    names.emplace_back(kind.name);
    for (const model::ExecutorOption& option : kind.options) {
      if (option.no_bounds.empty() && !option.is_default) {
        std::string name(kind.name);
        name += option.belongs_to.empty() ? "" : ":" + std::string(option.belongs_to);
        name += ":" + std::string(option.name());
        name += option.value().empty()  ? ""
                : option.value() == "N" ? "=7"
                                        : "=" + std::string(option.value());
        names.push_back(name);
      }
    }
  }
  return names;
}

/// Returns the name as part of the name of a test.
inline std::string test_name(std::string name) {
  std::ranges::replace_if(name, [](char c) { return c == ':' || c == '='; }, '_');
  return name;
}

/// The messages of the callbacks of a polling executor.
class Messages final : public executor::ReadinessSource {
 public:
  void watch(const std::vector<executor::Callback*>& callbacks) override { callbacks_ = callbacks; }
  void wait(std::int64_t deadline_ns, const std::vector<bool>& asked,
            std::vector<bool>& ready) override {
    for (;;) {
      const auto key = changed_.prepare_wait();
      if (fetch(asked, ready) || realtime::monotonic_now_ns() >= deadline_ns) {
        changed_.cancel_wait();
        return;
      }
      changed_.wait_until(key, deadline_ns);
    }
  }
  void wake() noexcept override {
    {
      const std::scoped_lock lock(mutex_);
      woken_ = true;
    }
    changed_.notify_all();
  }
  void add(const executor::Callback& callback) {
    {
      const std::scoped_lock lock(mutex_);
      ++waiting_[&callback];
    }
    changed_.notify_all();
  }
  void take(const executor::Callback& callback) {
    const std::scoped_lock lock(mutex_);
    --waiting_[&callback];
  }

 private:
  /// Returns whether the wait ends.
  bool fetch(const std::vector<bool>& asked, std::vector<bool>& ready) {
    const std::scoped_lock lock(mutex_);
    bool any = std::exchange(woken_, false);
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      ready[i] = asked[i] && waiting_[callbacks_[i]] > 0;
      any = any || ready[i];
    }
    return any;
  }

  std::mutex mutex_;
  realtime::EventCount changed_;
  std::vector<executor::Callback*> callbacks_;
  std::map<const executor::Callback*, int> waiting_;
  bool woken_ = false;
};

/// An application on one CPU. A derived class states what its callbacks do.
class ApplicationOnEngine {
 public:
  /// Whether the executor releases timers by the clock, or only `publish` does.
  enum class Timers : std::uint8_t { kByClock, kByHand };

  ApplicationOnEngine(const model::Application& application, const model::ExecutorChoice& choice,
                      Timers timers, std::size_t credits)
      : application_(application) {
    executor::ExecutorOptions options{.name = "conformance",
                                      .cpus = {cpu_},
                                      .spare_workers = 0,
                                      .stall_period = std::chrono::milliseconds(0)};
    executor_ = executor::make_executor(traits(choice).name, std::move(options),
                                        recorder::to_engine(choice), [this] {
                                          auto messages = std::make_unique<Messages>();
                                          messages_ = messages.get();
                                          return messages;
                                        });
    std::map<std::string, std::shared_ptr<executor::Group>> groups;
    const std::vector<int> levels = application.effective_priorities();
    for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
      const model::Callback& stated = application.callbacks[i];
      executor::CallbackOptions own{.name = stated.id,
                                    .level = levels[i],
                                    .credits = credits,
                                    .deadline_ns = stated.deadline.value().count()};
      if (stated.group) {
        own.group =
            groups.try_emplace(*stated.group, std::make_shared<executor::Group>()).first->second;
      }
      const auto* const timer = std::get_if<model::Timer>(&stated.trigger);
      if (timer != nullptr && timers == Timers::kByClock) {
        own.type = executor::EntityType::kTimer;
        callbacks_.push_back(std::make_shared<Callback<executor::TimerCallback>>(
            *this, i, std::move(own),
            executor::TimerOptions{.period_ns = timer->period.count(),
                                   .offset_ns = timer->offset.count()}));
      } else {
        callbacks_.push_back(
            std::make_shared<Callback<executor::Callback>>(*this, i, std::move(own)));
      }
      executor_->add(callbacks_.back());
    }
  }
  virtual ~ApplicationOnEngine() = default;
  ApplicationOnEngine(const ApplicationOnEngine&) = delete;
  ApplicationOnEngine& operator=(const ApplicationOnEngine&) = delete;

 protected:
  /// Runs an instance of a callback, the message of which has been taken.
  virtual void run_callback(std::size_t callback) = 0;

  /// Delivers a message to a callback.
  void publish(std::size_t callback) {
    if (messages_ != nullptr) {
      messages_->add(*callbacks_[callback]);
    } else {
      const std::int64_t now = realtime::monotonic_now_ns();
      callbacks_[callback]->release(now, now);
    }
  }
  /// Publishes to all topics of a callback.
  void publish_from(std::size_t callback) {
    for (const std::string& topic : application_.callbacks[callback].publishes) {
      for (std::size_t i = 0; i < callbacks_.size(); ++i) {
        const std::vector<std::string> inputs = model::inputs(application_.callbacks[i]);
        if (std::ranges::find(inputs, topic) != inputs.end()) {
          publish(i);
        }
      }
    }
  }

  const model::Application& application() const { return application_; }
  executor::Executor& executor() { return *executor_; }
  int cpu() const { return cpu_; }

 private:
  template <typename Base>
  class Callback final : public Base {
   public:
    template <typename... Options>
    Callback(ApplicationOnEngine& on, std::size_t index, Options... options)
        : Base(std::move(options)...), on_(on), index_(index) {}

   protected:
    executor::Outcome run(executor::InstanceInfo& info) override {
      info.start_ns = realtime::monotonic_now_ns();
      if (on_.messages_ != nullptr && this->type() != executor::EntityType::kTimer) {
        on_.messages_->take(*this);
      }
      on_.run_callback(index_);
      return executor::Outcome::kRan;
    }

   private:
    ApplicationOnEngine& on_;
    std::size_t index_;
  };

  const int cpu_ = realtime::allowed_cpus().front();
  const model::Application& application_;
  Messages* messages_ = nullptr;  // of the executor, if it polls
  std::vector<std::shared_ptr<executor::Callback>> callbacks_;
  std::unique_ptr<executor::Executor> executor_;
};

}  // namespace rclrt::simulator
