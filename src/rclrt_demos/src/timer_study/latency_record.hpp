// SPDX-License-Identifier: Apache-2.0
// The measurements of the loop, in memory that is allocated before it starts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rclrt/realtime/histogram.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::timer_study {

/// The result of one iteration.
struct Sample {
  std::int64_t release_ns = 0;         ///< nominal
  std::int64_t latency_ns = 0;         ///< from the nominal release
  std::int64_t since_rcl_call_ns = 0;  ///< the study's figure, for callbacks only; see README
};

/// A row of rttest's file.
struct Row {
  std::int64_t release_ns;
  std::int64_t latency_ns;
  std::int64_t minor_faults;
  std::int64_t major_faults;
};

/// One of the largest latencies.
struct TopLatency {
  std::int64_t latency_ns;
  std::uint64_t index;
};

/// Counts page faults of the calling thread.
class FaultCounter {
 public:
  /// Returns the page faults since the last call, minor and major.
  std::array<std::int64_t, 2> take() noexcept RCLRT_NONBLOCKING;

 private:
  std::array<std::int64_t, 2> last_{};
};

/// Filled by one thread; read after that thread has ended.
class LatencyRecord {
 public:
  static constexpr std::size_t kBins = 1000;  ///< of 1 us each, from 0
  static constexpr std::size_t kTop = 10;

  /// Makes a record that keeps `rows` rows; 0: none.
  RCLRT_SETUP explicit LatencyRecord(std::size_t rows);

  /// Discards the page faults before now. Call it on the thread of the loop.
  void begin() noexcept RCLRT_NONBLOCKING;
  void add(const Sample& sample) noexcept RCLRT_NONBLOCKING;

  std::uint64_t count() const { return count_; }
  const std::array<std::uint64_t, kBins>& bins() const { return bins_; }
  /// Returns how many latencies were 1 ms or longer.
  std::uint64_t overflow() const { return overflow_; }
  /// Returns the largest latencies, the largest first; among equal ones the earlier first.
  std::span<const TopLatency> top() const { return {top_.data(), top_count_}; }
  std::span<const Row> rows() const { return rows_; }
  const realtime::Histogram& latency() const { return latency_; }
  const realtime::Histogram& since_rcl_call() const { return since_rcl_call_; }
  std::int64_t minor_faults() const { return minor_faults_; }
  std::int64_t major_faults() const { return major_faults_; }
  /// Returns the exact extremes; 0 without samples.
  std::int64_t min_ns() const { return count_ == 0 ? 0 : min_ns_; }
  std::int64_t max_ns() const { return count_ == 0 ? 0 : top_[0].latency_ns; }

 private:
  void keep_if_large(std::int64_t latency_ns) noexcept RCLRT_NONBLOCKING;

  const std::size_t most_rows_;
  std::uint64_t count_ = 0;
  std::array<std::uint64_t, kBins> bins_{};
  std::uint64_t overflow_ = 0;
  std::array<TopLatency, kTop> top_{};
  std::size_t top_count_ = 0;
  std::vector<Row> rows_;
  realtime::Histogram latency_;
  realtime::Histogram since_rcl_call_;
  std::int64_t min_ns_ = INT64_MAX;
  FaultCounter faults_;
  std::int64_t minor_faults_ = 0;
  std::int64_t major_faults_ = 0;
};

}  // namespace rclrt::timer_study
