// SPDX-License-Identifier: Apache-2.0
// A callback for work announced by threads that do not know whether an executor listens.
#pragma once

#include <cstddef>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/executor/work_count.hpp"
#include "rclrt/realtime/quiescence_guard.hpp"

namespace rclrt::executor {

/// A callback of an entity that gets its work from threads of a middleware. Such a thread calls
/// `notify`, at any time. While an executor listens, `notify` announces instances to that executor.
/// Otherwise `notify` counts the instances and announces them when an executor listens.
class RCLRT_EXECUTOR_EXPORT NotifiedCallback : public Callback {
 public:
  using Callback::Callback;

 protected:
  /// Announces `count` instances to the executor that listens, and returns true. If none listens,
  /// keeps the number for the next executor, and returns false. Thread-safe, never waits.
  bool notify(std::size_t count) noexcept RCLRT_NONBLOCKING;
  /// Announces one instance, however often it is called before the announcement.
  bool notify_once() noexcept RCLRT_NONBLOCKING;
  /// Announces the instances that were kept, and later ones at once.
  void start_listening() noexcept RCLRT_NONBLOCKING;
  /// Stops announcing. Returns when no call of `notify` announces any more.
  RCLRT_SETUP void stop_listening() noexcept;
  /// Returns the number of kept instances and resets it to 0.
  std::size_t take_unannounced() noexcept RCLRT_NONBLOCKING { return unannounced_.take_all(); }
  /// Returns whether any instances are kept.
  bool has_unannounced() const noexcept RCLRT_NONBLOCKING { return !unannounced_.empty(); }
  /// Removes one kept instance: its work was taken without an announcement.
  void forget_one() noexcept RCLRT_NONBLOCKING { unannounced_.take_one(); }

  /// Makes and submits `count` instances, ready now. Thread-safe.
  virtual void announce(std::size_t count) noexcept RCLRT_NONBLOCKING;

  /// Counts an instance that was announced and that the caller holds back. The callback stays alive
  /// until `submit_held` is called.
  void count_held() noexcept RCLRT_NONBLOCKING { submitters_.enter(); }
  /// Hands an instance that was held back to the executor.
  void submit_held(Instance* instance) noexcept RCLRT_NONBLOCKING {
    submit(instance);
    submitters_.leave();  // the last access: detach may let the entity end from here on
  }
  /// Waits, after the last announcement, until no thread holds an announced instance back.
  RCLRT_SETUP void await_held() noexcept;

 private:
  bool announce_if_listening() noexcept RCLRT_NONBLOCKING;
  void announce_kept() noexcept RCLRT_NONBLOCKING { announce(unannounced_.take_all()); }

  // The guard is open while an executor listens. Each thread that submits is inside: one that holds
  // back an announced instance, or one in a call of `notify` that announces. Once the guard is
  // closed, or no thread calls `notify` any more, no new announcement starts. So when the guard is
  // then empty, no thread submits any more.
  //
  // A `notify` adds to unannounced_ and then tries to enter the guard. start_listening opens the
  // guard and then reads unannounced_. Either the thread of `notify` enters, or it tried before the
  // guard was opened, and its addition is visible to start_listening. The thread that takes the
  // number out of unannounced_ announces that many instances.
  realtime::QuiescenceGuard submitters_;
  WorkCount unannounced_;
};

}  // namespace rclrt::executor
