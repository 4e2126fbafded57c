// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/logging.hpp"

#include <limits>
#include <mutex>
#include <stdexcept>

#include "log_formatter.hpp"
#include "rclrt/realtime/periodic_drain.hpp"
#include "thrown_by.hpp"

namespace rclrt::realtime {

class Logger::Implementation {
 public:
  Implementation(std::vector<std::reference_wrapper<LogSink>> sinks, const LoggerOptions& options)
      : sinks_(std::move(sinks)),
        ring_bytes_(options.ring_bytes),
        rings_(static_cast<std::uint8_t>(options.level)),
        converter_(options.clock) {
    constexpr std::size_t kLeast = std::size_t{16} * 1024;
    static_assert(detail::kMaxLogRecord <= kLeast);
    if (ring_bytes_ < kLeast) {
      throw std::invalid_argument("Logger: ring_bytes must be at least " + std::to_string(kLeast));
    }
    drain_.emplace("rclrt_logger", options.period, [this] { pass(); });
  }

  ~Implementation() {
    rings_.gate().store(detail::kGateClosed, std::memory_order_relaxed);  // see detail::Gate
    drain_->stop();
  }

  detail::OwnedRing attach(std::string_view thread_name) {
    return rings_.add(thread_name, 0, ring_bytes_, detail::kMaxLogRecord);
  }

  LoggerStatistics statistics() const {
    const std::lock_guard lock(statistics_mutex_);
    return statistics_;
  }

  detail::Gate& gate() noexcept RCLRT_NONBLOCKING { return rings_.gate(); }
  TickClock clock() const { return converter_.clock(); }
  void flush() { drain_->flush(); }

 private:
  /// The oldest record of a non-empty ring.
  struct Front {
    detail::ThreadRing* ring;
    detail::LogRecord record;
  };

  void pass() {
    const detail::ThreadRings::List& rings = rings_.refresh();
    converter_.sample();  // later than every tick that refresh() has seen
    const std::int64_t now_ns = monotonic_now_ns();
    wall_offset_ns_ = read_clock_ns(CLOCK_REALTIME) - now_ns;

    for (const auto& ring : rings) {
      read_front(*ring);
    }
    while (!fronts_.empty()) {
      hand_over_oldest();
    }
    for (const auto& ring : rings) {
      report_dropped(*ring, now_ns);
    }
    for (LogSink& sink : sinks_) {
      guarded([&] { sink.flush(); });
    }
    {
      const std::lock_guard lock(statistics_mutex_);
      statistics_.threads = rings.size();
      statistics_.format_errors = formatter_.errors();
    }
    rings_.remove_ended();
  }

  void read_front(detail::ThreadRing& ring) {
    if (const std::byte* const bytes = ring.bytes.front()) {
      Front& front = fronts_.emplace_back(Front{.ring = &ring, .record = {}});
      std::memcpy(&front.record, bytes, sizeof front.record);
    }
  }

  void hand_over_oldest() {
    auto oldest = fronts_.begin();
    for (auto front = fronts_.begin(); front != fronts_.end(); ++front) {
      if (front->record.ticks < oldest->record.ticks) {
        oldest = front;
      }
    }
    const Front front = *oldest;
    *oldest = fronts_.back();
    fronts_.pop_back();

    const detail::LogRecord& record = front.record;
    const std::int64_t time_ns = converter_.to_monotonic_ns(record.ticks);
    const LogFormatter::Line line =
        formatter_.format(record, front.ring->bytes.front() + sizeof record);
    hand_over({.level = record.level,
               .monotonic_ns = time_ns,
               .wall_ns = time_ns + wall_offset_ns_,
               .thread = front.ring->name,
               .message = line.message,
               .file = line.file,
               .line = record.line});
    front.ring->bytes.pop(record.size);
    read_front(*front.ring);
  }

  void report_dropped(detail::ThreadRing& ring, std::int64_t now_ns) {
    const std::uint64_t dropped = ring.bytes.dropped();
    const std::uint64_t lines = dropped - std::exchange(ring.dropped_told, dropped);
    if (lines == 0) {
      return;
    }
    const std::string message =
        std::to_string(lines) + (lines == 1 ? " line" : " lines") + " dropped: the ring was full";
    hand_over({.level = LogLevel::kWarn,
               .monotonic_ns = now_ns,
               .wall_ns = now_ns + wall_offset_ns_,
               .thread = ring.name,
               .message = message});
    const std::lock_guard lock(statistics_mutex_);
    statistics_.dropped += lines;
    --statistics_.lines;  // the line that reports this was not logged
  }

  void hand_over(const LogLine& line) {
    for (LogSink& sink : sinks_) {
      guarded([&] { sink.write(line); });
    }
    const std::lock_guard lock(statistics_mutex_);
    ++statistics_.lines;
  }

  template <typename Call>
  void guarded(const Call& call) {
    if (std::optional<std::string> error = thrown_by(call)) {
      const std::lock_guard lock(statistics_mutex_);
      ++statistics_.sink_errors;
      statistics_.last_error = *std::move(error);
    }
  }

  const std::vector<std::reference_wrapper<LogSink>> sinks_;
  const std::size_t ring_bytes_;
  detail::ThreadRings rings_;
  // Used only by the drain thread, except the converter's constant clock.
  TickConverter converter_;
  LogFormatter formatter_;
  std::vector<Front> fronts_;
  std::int64_t wall_offset_ns_ = 0;
  mutable std::mutex statistics_mutex_;  // guards statistics_
  LoggerStatistics statistics_;
  std::optional<PeriodicDrain> drain_;  // last: its thread uses all of the above
};

Logger::Logger(std::vector<std::reference_wrapper<LogSink>> sinks, const LoggerOptions& options)
    : implementation_(std::make_unique<Implementation>(std::move(sinks), options)) {}

Logger::~Logger() = default;

void Logger::set_level(LogLevel level) noexcept RCLRT_NONBLOCKING {
  // Relaxed, see detail::Gate.
  implementation_->gate().store(static_cast<std::uint8_t>(level), std::memory_order_relaxed);
}

LogLevel Logger::level() const noexcept RCLRT_NONBLOCKING {
  // Relaxed, see detail::Gate.
  return static_cast<LogLevel>(implementation_->gate().load(std::memory_order_relaxed));
}

void Logger::flush() { implementation_->flush(); }

LoggerStatistics Logger::statistics() const { return implementation_->statistics(); }

detail::AttachedRing Logger::attach(std::string_view thread_name) {
  return {implementation_->attach(thread_name), implementation_->clock()};
}

}  // namespace rclrt::realtime
