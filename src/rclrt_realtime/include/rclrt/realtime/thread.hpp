// SPDX-License-Identifier: Apache-2.0
// A thread that has its name, policy, priority and CPUs from its first instruction on.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::realtime {

struct ThreadOptions {
  std::string name;            ///< shown by top and /proc; the kernel keeps 15 characters
  Scheduling scheduling;       ///< CPUs must be allowed ones, see `require_allowed_cpus`
  std::size_t stack_size = 0;  ///< bytes; 0: the system's default (`ulimit -s`)
};

/// Owns one operating-system thread. Movable; joins on destruction. Not thread-safe itself: one
/// owner starts, moves and joins it.
class Thread {
 public:
  Thread() = default;

  /// Starts `body` (callable without arguments; an exception that leaves it ends the process, as
  /// for std::thread). Throws std::system_error with cause and fix, or std::invalid_argument.
  template <typename Body>
  RCLRT_SETUP Thread(const ThreadOptions& options, Body body) {
    start(options, std::make_unique<BodyOf<Body>>(std::move(body)));
  }

  ~Thread() { join(); }
  Thread(Thread&& other) noexcept
      : handle_(other.handle_), joinable_(std::exchange(other.joinable_, false)) {}
  Thread& operator=(Thread&& other) noexcept {
    if (this != &other) {
      join();
      handle_ = other.handle_;
      joinable_ = std::exchange(other.joinable_, false);
    }
    return *this;
  }

  bool joinable() const noexcept { return joinable_; }

  /// Changes policy and priority (not the CPUs) of the running thread; nothing to do when it has
  /// ended. Throws std::system_error with cause and fix.
  RCLRT_SETUP void set_priority(Policy policy, int priority);

  /// Joins if the thread has ended, without waiting. True when there is nothing left to join.
  bool try_join() noexcept RCLRT_NONBLOCKING;

  /// Waits for the thread to end; nothing to do when it was never started or already joined.
  void join() noexcept RCLRT_WAITS;

 private:
  struct Body {
    virtual ~Body() = default;
    virtual void run() = 0;
    std::string name;
  };
  template <typename F>
  struct BodyOf : Body {
    explicit BodyOf(F f) : function(std::move(f)) {}
    void run() override { function(); }
    F function;
  };

  void start(const ThreadOptions& options, std::unique_ptr<Body> body);
  static void* entry(void* body);

  pthread_t handle_{};
  bool joinable_ = false;
};

}  // namespace rclrt::realtime
