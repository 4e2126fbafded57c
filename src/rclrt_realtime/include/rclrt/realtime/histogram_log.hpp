// SPDX-License-Identifier: Apache-2.0
// Histograms as text: the HdrHistogram V2 encoding, and log files of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/histogram.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The samples of one interval of time.
struct HistogramInterval {
  std::string tag;             ///< the source of the samples; empty: untagged
  std::int64_t start_ns = 0;   ///< since 1970 (CLOCK_REALTIME)
  std::int64_t length_ns = 0;  ///< not negative
  Histogram histogram;
};

/// The limits of a reader: a file cannot make it use more memory or time than this.
struct HistogramLogLimits {
  std::size_t line_bytes = std::size_t{16} << 20;
  std::size_t histogram_bytes = std::size_t{32} << 20;  ///< memory of one histogram
};

/// "file:line: what is wrong, what was expected".
class RCLRT_REALTIME_EXPORT HistogramLogError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the histogram in the compressed V2 encoding, in base64, as the HdrHistogram libraries
/// exchange it. A sample outside of the range is encoded as the lowest or highest value of the
/// range; the result does not show that.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::string encode_histogram(const Histogram& histogram);

/// Decodes the text of `encode_histogram` or of another HdrHistogram library. Throws
/// HistogramLogError for any other text; its message states what is wrong and what was expected.
RCLRT_REALTIME_EXPORT RCLRT_SETUP Histogram decode_histogram(std::string_view text,
                                                             const HistogramLogLimits& limits = {});

/// Writes an HdrHistogram log, format 1.3, for the tools that plot and compare such logs. The
/// stream must outlive the writer. Every function throws std::runtime_error if writing to the
/// stream fails.
///
///     std::ofstream file("lateness.hlog");
///     HistogramLogWriter log(file, start_ns);
///     log.write({"control", start_ns, end_ns - start_ns, Histogram(thread.lateness())});
class RCLRT_REALTIME_EXPORT HistogramLogWriter {
 public:
  /// Writes the header with the time the recording started, in nanoseconds since 1970.
  RCLRT_SETUP HistogramLogWriter(std::ostream& out, std::int64_t start_time_ns);

  /// Writes one line of comment. Throws std::invalid_argument for a text of several lines.
  RCLRT_SETUP void comment(std::string_view text);

  /// Writes the histogram of one interval of time. Throws std::invalid_argument if the interval's
  /// tag has a comma, blank or control character, or if a time is negative.
  RCLRT_SETUP void write(const HistogramInterval& interval);

 private:
  void put(const std::string& line);

  std::ostream& out_;
};

/// Reads HdrHistogram logs of format 1.0 to 1.3 with V2 histograms, as any HdrHistogram library
/// writes them. The content of the file is checked, not trusted.
class RCLRT_REALTIME_EXPORT HistogramLogReader {
 public:
  /// Makes a reader; every error begins with `name`. The stream must outlive the reader.
  RCLRT_SETUP HistogramLogReader(std::istream& in, std::string name,
                                 const HistogramLogLimits& limits = {});

  /// Returns the next interval; std::nullopt at the end. Throws HistogramLogError for an invalid
  /// line; the next call continues with the line after it.
  RCLRT_SETUP std::optional<HistogramInterval> next();

 private:
  bool read_line();
  void read_comment();
  HistogramInterval read_interval() const;
  std::int64_t absolute(std::int64_t stamp_ns) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::istream& in_;
  std::string name_;
  HistogramLogLimits limits_;
  std::string line_;
  std::size_t line_number_ = 0;
  std::optional<std::int64_t> start_time_ns_;
  std::optional<std::int64_t> base_time_ns_;
};

}  // namespace rclrt::realtime
