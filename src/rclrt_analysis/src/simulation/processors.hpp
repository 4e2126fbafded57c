// SPDX-License-Identifier: Apache-2.0
// CPUs and threads of a simulation, scheduled as SCHED_FIFO does.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis::detail {

/// An index into one of the simulation's lists.
using Id = std::uint32_t;
inline constexpr Id kNone = std::numeric_limits<Id>::max();
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

enum class ThreadKind { kWorker, kScheduler, kOneOff, kLoop };
enum class ThreadState {
  kSleeping,  ///< has nothing to do
  kWaiting,   ///< its callback waits
  kReady,
  kRunning
};

/// The urgency of a thread: a higher key is more urgent. It is a SCHED_FIFO priority or, under EDF,
/// the negative absolute deadline in ns.
using Key = std::int64_t;
inline constexpr Key kNotPreemptable = std::numeric_limits<Key>::max();
/// The key under EDF without a deadline: in the background.
inline constexpr Key kBackground = std::numeric_limits<Key>::min() + 1;

struct SimulatedThread {
  ThreadKind kind = ThreadKind::kWorker;
  Id executor = 0;
  Id lane = kNone;  ///< the lane that it works for
  unsigned slot = 0;
  std::uint64_t cpus = 0;  ///< a bit for each CPU it may run on
  Key base_key = 0;
  Key key = 0;  ///< base_key, or raised
  /// The order among threads with equal keys: the lowest stamp runs first. A thread gets a new
  /// stamp when it wakes up, and keeps it when it is preempted.
  std::uint64_t stamp = 0;
  ThreadState state = ThreadState::kSleeping;
  Id cpu = kNone;  ///< while running

  Id waiting = kNone;             ///< of a one-off thread: the instance it will run
  Id instance = kNone;            ///< the instance that it runs
  Id callback = kNone;            ///< of that instance
  std::uint64_t number = 0;       ///< of that instance, in order of pick-up
  std::int64_t remaining_ns = 0;  ///< of the current piece of work, as of the last account
  std::int64_t cpu_ns = 0;        ///< for `instance` so far, as of the last account
  std::uint32_t preemptions = 0;  ///< of `instance`
};

struct SimulatedCpu {
  Id thread = kNone;
  std::int64_t since_ns = 0;         ///< of the last account
  std::int64_t stretch_from_ns = 0;  ///< start of the interval in which it runs this instance
  std::int64_t finish_ns = kNever;   ///< end of the current piece of work
};

/// A list that keeps the addresses of its elements while it grows.
template <typename T>
class StableList {
 public:
  T& operator[](Id index) { return *elements_[index]; }
  const T& operator[](Id index) const { return *elements_[index]; }

  Id add(const T& value) {
    elements_.push_back(std::make_unique<T>(value));
    return static_cast<Id>(elements_.size() - 1);
  }

 private:
  std::vector<std::unique_ptr<T>> elements_;
};

class Processors {
 public:
  Processors(unsigned cpus, SimulationObserver* observer) : cpus_(cpus), observer_(observer) {}

  Id add(const SimulatedThread& thread);
  SimulatedThread& operator[](Id thread) { return threads_[thread]; }
  const SimulatedThread& operator[](Id thread) const { return threads_[thread]; }
  const std::vector<SimulatedCpu>& cpus() const { return cpus_; }

  void set_now(std::int64_t now_ns) { now_ns_ = now_ns; }
  std::int64_t now_ns() const { return now_ns_; }
  std::int64_t busy_ns() const { return busy_ns_; }

  /// Makes a sleeping or waiting thread ready, behind those with its key.
  void wake(Id thread);
  /// Takes the CPU from a running thread and lets it sleep.
  void sleep(Id thread);
  /// Takes the CPU from a running thread of which the callback waits. `rest_ns` is the work that is
  /// left to it after `wake`.
  void wait(Id thread, std::int64_t rest_ns);
  /// Sets the key of a thread in any state. Call `place` afterwards.
  void set_key(Id thread, Key key);
  /// Gives a running thread `work_ns` of work from now on.
  void work(Id thread, std::int64_t work_ns);
  /// Ends the interval of a running thread that is done with its instance.
  void end_stretch(Id thread);
  /// Brings `remaining_ns` and `cpu_ns` of a running thread up to now.
  void account(SimulatedCpu& cpu);

  /// Gives the CPUs to the most urgent of the ready threads.
  void place();
  /// Returns a CPU with a thread that has no work left at this instant; kNone when there is none.
  Id finished() const;
  /// Returns the time at which the first piece of work is done.
  std::int64_t next_finish_ns() const;

  /// Stops all threads at the end of the simulation.
  void stop_all();

 private:
  bool before(Id a, Id b) const;  // true if `a` is chosen before `b`
  void insert_ready(Id thread);
  Id find_cpu(const SimulatedThread& thread) const;
  void start(Id cpu, Id thread);
  void stop(Id cpu);

  StableList<SimulatedThread> threads_;
  std::vector<SimulatedCpu> cpus_;
  std::vector<Id> ready_;  // the most urgent last
  SimulationObserver* const observer_;
  std::int64_t now_ns_ = 0;
  std::int64_t busy_ns_ = 0;
  std::uint64_t next_stamp_ = 1;
  std::uint64_t first_cpus_ = 0;  // of the first thread
  bool same_cpus_ = true;         // all threads may run on the same CPUs
};

}  // namespace rclrt::analysis::detail
