// SPDX-License-Identifier: Apache-2.0
// The thesis's thread-dispatch model (section 5.1.3).
#pragma once

#include <atomic>
#include <list>
#include <memory>

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

class Lane;

/// A scheduler thread above all levels starts a one-off thread at the callback's priority for each
/// instance. Creating threads allocates and costs tens of microseconds: zero allocation in the
/// steady state is not offered. When the system refuses a thread, `spin` ends with that error.
class RCLRT_EXECUTOR_EXPORT ThreadDispatchExecutor final : public Executor {
 public:
  /// Creates no thread yet.
  RCLRT_SETUP explicit ThreadDispatchExecutor(ExecutorOptions options = {});
  ~ThreadDispatchExecutor() override;

 private:
  struct Job {
    realtime::Thread thread;
    realtime::Semaphore go;        // posted once the thread has its priority
    Instance* instance = nullptr;  // set before go; nullptr: nothing to run after all
    std::uint32_t slot = 0;
    Job* next_finished = nullptr;  // of finished_, then of ending_
  };

  void on_added(Callback& callback) override;
  void on_removed(Callback& callback) noexcept override;
  void retime() noexcept override;
  void remove_queued(const Callback& callback, Instance*& taken) noexcept override;
  Instance* take_on_caller(std::int64_t ready_by_ns) noexcept override;
  std::int64_t next_release_ns() noexcept override;
  void start_threads() override;
  void stop_threads() noexcept override;
  void wake_threads() noexcept RCLRT_NONBLOCKING override;

  void warm_stacks();
  void dispatch(Instance* instance) noexcept;
  void run(Job& job) noexcept;
  void reap() noexcept;

  const std::unique_ptr<Lane> inbox_;
  bool has_warm_stacks_ = false;  // of start_threads
  realtime::Thread scheduler_;
  // jobs_, ending_ and idle_ belong to the scheduler thread, and to stop_threads once that has
  // ended.
  std::list<Job> jobs_;     // owns every job; never shrinks while spinning
  Job* ending_ = nullptr;   // jobs taken off finished_ whose thread has not been joined yet
  std::vector<Job*> idle_;  // jobs whose thread has been joined, the lowest slot last
  // Jobs whose thread has nothing left to do but end: pushed by the thread, taken by the scheduler.
  std::atomic<Job*> finished_{nullptr};
};

}  // namespace rclrt::executor
