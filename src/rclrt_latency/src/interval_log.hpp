// SPDX-License-Identifier: Apache-2.0
// An HdrHistogram log with what each thread recorded in each second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "measurement.hpp"
#include "rclrt/realtime/histogram.hpp"
#include "rclrt/realtime/histogram_log.hpp"

namespace rclrt::latency {

/// Writes beside the file, which appears with commit(). Every function throws std::runtime_error
/// when that fails.
class IntervalLog {
 public:
  explicit IntervalLog(std::filesystem::path path);
  /// Removes what was not committed.
  ~IntervalLog();
  IntervalLog(const IntervalLog&) = delete;
  IntervalLog& operator=(const IntervalLog&) = delete;

  /// Begins anew: the histograms are of new threads.
  void begin_round();

  /// Writes what thread number `thread` of the series recorded since the last call.
  void write(std::size_t thread, const Series& series, const realtime::Histogram& histogram);

  void commit();

 private:
  struct Previous {
    realtime::Histogram histogram;
    std::int64_t end_ns = 0;
  };

  std::filesystem::path path_;
  std::filesystem::path partial_;
  std::ofstream file_;
  std::optional<realtime::HistogramLogWriter> writer_;
  std::int64_t round_ns_ = 0;
  std::map<std::size_t, Previous> previous_;
};

}  // namespace rclrt::latency
