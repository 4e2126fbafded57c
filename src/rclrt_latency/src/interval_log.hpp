// SPDX-License-Identifier: Apache-2.0
// An HdrHistogram log of the records of each thread in each second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>

#include "measurement.hpp"
#include "rclrt/realtime/histogram.hpp"
#include "rclrt/realtime/histogram_log.hpp"
#include "rclrt/realtime/replacing_file.hpp"

namespace rclrt::latency {

/// Writes the histograms of intervals to an HdrHistogram log. The file appears under its name with
/// commit(); until then it is a temporary file beside it. Every function throws std::runtime_error
/// if writing fails, the constructor std::invalid_argument.
class IntervalLog {
 public:
  explicit IntervalLog(std::filesystem::path path);
  IntervalLog(const IntervalLog&) = delete;
  IntervalLog& operator=(const IntervalLog&) = delete;

  /// Begins a new round: the histograms are of new threads.
  void begin_round();

  /// Writes the records of thread number `thread` of the series since the last call.
  void write(std::size_t thread, const Series& series, const realtime::Histogram& histogram);

  void commit();

 private:
  struct Previous {
    realtime::Histogram histogram;
    std::int64_t end_ns = 0;
  };

  std::optional<realtime::ReplacingFile> file_;  // removes the file if it was not committed
  std::optional<realtime::HistogramLogWriter> writer_;
  std::int64_t round_ns_ = 0;
  std::map<std::size_t, Previous> previous_;
};

}  // namespace rclrt::latency
