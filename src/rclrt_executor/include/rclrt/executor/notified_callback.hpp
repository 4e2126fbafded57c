// SPDX-License-Identifier: Apache-2.0
// A callback whose work is announced by threads that do not know whether an executor listens.
#pragma once

#include <atomic>
#include <cstddef>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/executor/work_count.hpp"

namespace rclrt::executor {

/// For entities of a middleware: a thread that brings work calls `notify`, at any time.
/// While an executor listens that announces instances; otherwise the number is kept until one does.
class RCLRT_EXECUTOR_EXPORT NotifiedCallback : public Callback {
 public:
  using Callback::Callback;

 protected:
  /// Announces `count` instances, or keeps the number until an executor listens. False if none
  /// does. Thread-safe, never waits.
  bool notify(std::size_t count) noexcept RCLRT_NONBLOCKING;
  /// Announces one instance, however often it is told of before it is announced.
  bool notify_once() noexcept RCLRT_NONBLOCKING;
  /// Announces what was told of meanwhile, and from now on at once.
  void start_listening() noexcept RCLRT_NONBLOCKING;
  /// Returns when no `notify` announces any more.
  RCLRT_SETUP void stop_listening() noexcept;
  /// Returns how many are kept, and keeps them no longer.
  std::size_t take_unannounced() noexcept RCLRT_NONBLOCKING { return unannounced_.take_all(); }
  /// Returns whether any are kept.
  bool has_unannounced() const noexcept RCLRT_NONBLOCKING { return !unannounced_.empty(); }
  /// Removes one from those kept: its work was taken without having been announced.
  void forget_one() noexcept RCLRT_NONBLOCKING { unannounced_.take_one(); }

  /// Makes and submits `count` instances, ready now. Thread-safe.
  virtual void announce(std::size_t count) noexcept RCLRT_NONBLOCKING;

  /// Counts an announced instance that the caller holds back: until submit_held the callback stays.
  void count_held() noexcept RCLRT_NONBLOCKING { held_back_.fetch_add(1); }
  /// Hands it to the executor after all.
  void submit_held(Instance* instance) noexcept RCLRT_NONBLOCKING {
    submit(instance);
    held_back_.fetch_sub(1);  // the last access: detach may let the entity end from here on
  }
  /// Waits, after the last announcement, until no thread holds an announced instance back.
  RCLRT_SETUP void await_held() noexcept;

 private:
  bool announce_if_listening() noexcept RCLRT_NONBLOCKING;
  void announce_kept() noexcept RCLRT_NONBLOCKING { announce(unannounced_.take_all()); }

  // Who may still submit: instances announced but held back, and calls of announce_if_listening.
  // Once listening_ is false, or nobody tells any more, nobody starts to announce; so at zero
  // nobody submits any more.
  std::atomic<int> held_back_{0};
  // A `notify` adds to unannounced_ and then reads listening_; start_listening sets listening_ and
  // then reads unannounced_: one of the two sees the other, and who takes the number out announces
  // it.
  std::atomic<bool> listening_{false};
  WorkCount unannounced_;
};

}  // namespace rclrt::executor
