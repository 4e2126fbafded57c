// SPDX-License-Identifier: Apache-2.0
// A readiness source that the test fills by hand.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "rclrt/executor/wait_set_executor.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/event_count.hpp"

namespace rclrt::executor::test {

/// Each entity is ready as many times as `add_message` was called for it; a run takes one message.
class FakeReadiness : public ReadinessSource {
 public:
  void watch(const std::vector<Callback*>& callbacks) override {
    const std::scoped_lock lock(mutex_);
    callbacks_ = callbacks;
  }

  void wait(std::int64_t deadline_ns, const std::vector<bool>& asked,
            std::vector<bool>& ready) override {
    for (;;) {
      const auto key = event_.prepare_wait();
      bool return_now = woken_.exchange(false);
      {
        const std::scoped_lock lock(mutex_);
        ++polls_;
        for (std::size_t i = 0; i < callbacks_.size(); ++i) {
          ready[i] = asked[i] && messages_[callbacks_[i]] > 0;
          return_now = return_now || ready[i];
        }
      }
      if (return_now || realtime::monotonic_now_ns() >= deadline_ns) {
        event_.cancel_wait();
        return;
      }
      event_.wait_until(key, deadline_ns);
    }
  }

  void wake() noexcept override {
    woken_.store(true);
    event_.notify_all();
  }

  void add_message(const Callback& callback) {
    {
      const std::scoped_lock lock(mutex_);
      ++messages_[&callback];
    }
    event_.notify_all();
  }

  void take_message(const Callback& callback) {
    const std::scoped_lock lock(mutex_);
    --messages_[&callback];
  }

  int polls() {
    const std::scoped_lock lock(mutex_);
    return polls_;
  }

 private:
  std::mutex mutex_;
  std::vector<Callback*> callbacks_;
  std::map<const Callback*, int> messages_;
  int polls_ = 0;
  std::atomic<bool> woken_{false};
  realtime::EventCount event_;
};

}  // namespace rclrt::executor::test
