// SPDX-License-Identifier: Apache-2.0
// Writes the last seconds of an executor to a Perfetto file when a deadline was missed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/executor/deadline_miss.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/executor/instance.hpp"
#include "rclrt/realtime/flight_recorder.hpp"
#include "rclrt/realtime/mpsc_queue.hpp"
#include "rclrt/realtime/periodic_drain.hpp"

namespace rclrt::executor {

/// The options of a FlightTrace.
struct FlightTraceOptions {
  realtime::FlightRecorderOptions recorder{.name = "miss"};  ///< files miss-1.pftrace, ...
  /// The size of the queue, in instances: enough for the number that may end within 10 ms. One
  /// instance takes about 100 bytes. Instances that do not fit are counted as lost.
  std::size_t capacity = 8192;
  InstanceSink* sink = nullptr;    ///< also receives the instances; must outlive the trace
  MissHandler* handler = nullptr;  ///< also receives the misses; must outlive the trace
};

/// Records the instances and deadline misses of one executor in a flight recorder. Set it as
/// `ExecutorOptions::sink` and `on_miss`. Use it for one executor only, because the tracks in the
/// recording are named by level and worker. Every instance is a span in the recording. Every miss
/// is an instant event on the track of the late instance, and requests a dump. Instances go through
/// a bounded queue. A thread at normal priority moves them to the recorder and writes the dumps.
class RCLRT_EXECUTOR_EXPORT FlightTrace final : public InstanceSink, public MissHandler {
 public:
  /// Throws as FlightRecorder does, std::invalid_argument if the capacity is 0, std::system_error.
  RCLRT_SETUP explicit FlightTrace(FlightTraceOptions options = {});
  /// Writes the queued items. The executor must have ended.
  ~FlightTrace() override;
  FlightTrace(const FlightTrace&) = delete;
  FlightTrace& operator=(const FlightTrace&) = delete;

  void record(const InstanceRecord& record) noexcept RCLRT_NONBLOCKING override;
  void missed(const DeadlineMiss& miss) noexcept RCLRT_NONBLOCKING override;

  /// Returns how many dumps were written, and how many could not be written. Thread-safe.
  RCLRT_SETUP realtime::FlightRecorderStatistics statistics() const {
    return recorder_.statistics();
  }
  /// Returns the number of instances and misses that did not fit into the queue.
  std::uint64_t dropped() const noexcept RCLRT_NONBLOCKING { return dropped_.load(); }

 private:
  static constexpr std::size_t kNameSize = 48;  // longer names are cut
  struct Item {
    char callback[kNameSize];  // copied: it may have been removed when the item is read
    std::uint64_t id;
    std::int64_t start_ns;
    std::int64_t end_ns;
    int level;
    std::uint32_t slot;
    bool is_miss;  // `slot` is not known then
  };

  void push(const Callback& callback, Item item) noexcept RCLRT_NONBLOCKING;
  void drain();
  realtime::TraceThread track(const Item& item);

  const FlightTraceOptions options_;
  realtime::MpscQueue<Item> queue_;
  std::atomic<std::uint64_t> dropped_{0};
  realtime::FlightRecorder recorder_;
  // Only the draining thread uses these until it has ended.
  realtime::TraceDictionary dictionary_;
  std::map<std::pair<int, std::uint32_t>, realtime::TraceThread> tracks_;  // by level and slot
  std::map<std::uint64_t, std::string> misses_;  // by instance: the record follows
  std::set<std::string> reasons_;                // live as long as the recorder's dumps
  std::vector<realtime::TraceEvent> events_;
  realtime::PeriodicDrain drain_;  // last: its thread uses all of the above
};

}  // namespace rclrt::executor
