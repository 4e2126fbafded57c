// SPDX-License-Identifier: Apache-2.0
// A thread that has its name, policy, priority and CPUs from its first instruction on.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/stop_flag.hpp"

namespace rclrt::realtime {

/// The properties of a thread.
struct ThreadOptions {
  std::string name;                ///< shown by top and /proc; the kernel keeps 15 characters
  Scheduling scheduling{};         ///< CPUs must be allowed ones, see `require_allowed_cpus`
  std::size_t stack_size = 0;      ///< bytes; 0: the system's default (`ulimit -s`)
  std::size_t stack_prefault = 0;  ///< bytes of the stack that are touched before the body runs
  std::size_t heap_prefault = 0;   ///< bytes of the thread's heap to touch, see `process.hpp`
  std::function<void()>
      before{};                   ///< runs in the thread before the body, with `scheduling` applied
  std::function<void()> after{};  ///< runs in the thread after the body
};

/// Tag for Thread's constructor: `start()` begins the first run too.
struct DeferStart {};
/// Its only value.
inline constexpr DeferStart kDeferStart;

/// Owns one operating-system thread and the body that the thread runs. After `join`, `start` runs
/// the body again on a new thread. Movable. Requests a stop and joins on destruction, as
/// std::jthread does. Only one thread at a time may construct, start, move, join or destroy the
/// object. Any thread may call `request_stop` at the same time as `start` or `join`.
class RCLRT_REALTIME_EXPORT Thread {
 public:
  Thread() = default;

  /// Starts `body`, which takes no argument or a `const StopFlag&` to poll. As with std::thread, an
  /// exception that leaves `body` or a hook terminates the process. Throws std::system_error with
  /// cause and fix, or std::invalid_argument.
  template <typename Body>
  RCLRT_SETUP Thread(const ThreadOptions& options, Body body)
      : Thread(kDeferStart, options, std::move(body)) {
    start();
  }

  template <typename Body>
  RCLRT_SETUP Thread(DeferStart, const ThreadOptions& options, Body body)
      : run_(std::make_unique<RunOf<Body>>(options, std::move(body))) {}

  ~Thread() { stop(); }
  Thread(Thread&& other) noexcept = default;
  Thread& operator=(Thread&& other) noexcept {
    if (this != &other) {
      stop();
      run_ = std::move(other.run_);
    }
    return *this;
  }

  /// Runs the body. After the last run was joined, `start` may be called again. Throws as the
  /// constructor does, and std::logic_error if there is no body or the last run was not joined.
  RCLRT_SETUP void start();

  /// Returns whether there is a run to join. True from `start` until `join`, even if the body has
  /// returned meanwhile.
  bool joinable() const noexcept RCLRT_NONBLOCKING { return run_ && run_->joinable; }

  /// Asks the body to return. Thread-safe and async-signal-safe.
  void request_stop() noexcept RCLRT_NONBLOCKING {
    if (run_) {
      run_->stop.request_stop();
    }
  }

  /// Asks the body to return and waits until it has.
  void stop() noexcept RCLRT_WAITS {
    request_stop();
    join();
  }

  /// Changes policy and priority (not the CPUs) of the running thread. Does nothing if it has
  /// ended. Throws std::system_error with cause and fix.
  RCLRT_SETUP void set_priority(Policy policy, int priority);

  /// Lets the running thread run on these CPUs; if the list is empty or the kernel refuses it, on
  /// all CPUs of the process.
  RCLRT_SETUP void set_cpus(const std::vector<int>& cpus) noexcept;

  /// Joins the thread if it has ended, and does not wait for its end. Returns true if there is
  /// nothing left to join. Joining gives the stack back to the C library, which takes a lock for
  /// that.
  bool try_join() noexcept RCLRT_WAITS;

  /// Waits for the thread to end. Does nothing if it was never started or was already joined.
  void join() noexcept RCLRT_WAITS;

 private:
  friend struct ThreadEntry;  // of this library
  struct Birth;

  /// The data that the running thread uses. Its address does not change when the Thread is moved.
  /// It outlives the run, because a Thread joins before it destroys the data.
  struct RCLRT_REALTIME_EXPORT Run {
    explicit Run(const ThreadOptions& with) : options(with) {}
    virtual ~Run() = default;
    virtual void body() = 0;

    ThreadOptions options;
    StopFlag stop;
    pthread_t handle{};
    bool joinable = false;
    Birth* birth = nullptr;
  };
  template <typename Body>
  struct RunOf : Run {
    RunOf(const ThreadOptions& with, Body what) : Run(with), function(std::move(what)) {}
    void body() override {
      if constexpr (std::is_invocable_v<Body&, const StopFlag&>) {
        function(this->stop);
      } else {
        function();
      }
    }
    Body function;
  };

  static void* entry(void* run);

  std::unique_ptr<Run> run_;
};

}  // namespace rclrt::realtime
