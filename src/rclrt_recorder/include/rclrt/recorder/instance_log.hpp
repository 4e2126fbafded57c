// SPDX-License-Identifier: Apache-2.0
// Collects every instance of a run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "rclrt/executor/instance.hpp"
#include "rclrt/realtime/mpsc_queue.hpp"
#include "rclrt/realtime/periodic_drain.hpp"
#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

/// Collects the records of instances. The workers of any number of executors write into one bounded
/// queue, and a thread at normal priority empties it. There is not one queue for each thread,
/// because thread_dispatch starts a new thread for each instance. If the queue is full, the
/// instance is dropped and counted.
class RCLRT_RECORDER_EXPORT InstanceLog {
 public:
  /// Makes a log that keeps at most `most` instances. If that number is reached or the memory is
  /// full, later instances are dropped and counted.
  explicit InstanceLog(std::size_t most = SIZE_MAX);
  /// Takes instances, about in the order of their ends. Called by the log's thread; must not throw.
  using Consumer = std::function<void(std::span<const LoggedInstance>)>;
  /// Makes a log that keeps nothing and passes all instances to `consumer`.
  explicit InstanceLog(Consumer consumer);
  ~InstanceLog();
  InstanceLog(const InstanceLog&) = delete;
  InstanceLog& operator=(const InstanceLog&) = delete;

  /// Records the instances of `callback` under the number `index` of the application's callbacks,
  /// instead of the callback's own number (executor::CallbackOptions::number). Call it before the
  /// run.
  void map(const executor::Callback* callback, std::uint32_t index);

  /// Passes the instances of one executor to the log. Use it only while the log exists. Callbacks
  /// without a number are not recorded.
  class RCLRT_RECORDER_EXPORT Sink final : public executor::InstanceSink {
   public:
    /// Makes a sink of the instances of executor number `executor`.
    Sink(InstanceLog& log, std::uint32_t executor) : log_(log), executor_(executor) {}
    void record(const executor::InstanceRecord& record) noexcept override;

   private:
    InstanceLog& log_;
    const std::uint32_t executor_;
  };

  /// Sets the tokens for the record that ends the instance the calling thread is running.
  static void set_tokens(const ChainTokens& tokens) noexcept;

  /// Sets the input of a synchroniser by which the message of that instance came, and its stamp.
  static void set_input(std::uint32_t input, std::int64_t stamp_ns) noexcept;

  /// Sets the time at which the message of the calling thread's instance was published
  /// (CLOCK_MONOTONIC), and the callback that published it.
  static void set_published(std::int64_t time_ns,
                            std::uint32_t publisher = LoggedInstance::kNobody) noexcept;

  /// Sets the time by which the calling thread's instance read a variable, for
  /// InstanceRecord::read_ns.
  static void set_read(std::int64_t time_ns) noexcept;
  /// Sets the time at which the calling thread's instance stored a variable, for
  /// InstanceRecord::stored_ns.
  static void set_stored(std::int64_t time_ns) noexcept;

  /// Ends the thread, after all executors have stopped, and returns the collected instances; none
  /// if there is a consumer, which has all of them then.
  std::vector<LoggedInstance> finish();
  std::uint64_t dropped() const noexcept { return dropped_.load(); }
  /// Returns the end of the first instance that found no room; later instances are not known.
  std::optional<std::int64_t> full_since_ns() const noexcept;

 private:
  void drain();
  bool keep(const LoggedInstance& logged) noexcept;
  void pass_on();

  std::size_t most_;  // used by the draining thread, as collected_
  std::unordered_map<const executor::Callback*, std::uint32_t> indices_;  // constant in the run
  realtime::MpscQueue<LoggedInstance> queue_;
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::int64_t> full_since_ns_{INT64_MAX};  // written by the draining thread only
  const Consumer consumer_;
  std::vector<LoggedInstance> collected_;  // used by the draining thread until it has ended
  realtime::PeriodicDrain drain_;          // last: its thread uses all of the above
};

}  // namespace rclrt::recorder
