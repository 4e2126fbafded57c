// SPDX-License-Identifier: Apache-2.0
// Logging from real-time threads: a call copies its arguments, another thread formats them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/duration.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/log_format.hpp"
#include "rclrt/realtime/log_record.hpp"
#include "rclrt/realtime/log_sink.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/thread_ring.hpp"
#include "rclrt/realtime/tick_clock.hpp"

/// The lowest level that is compiled: log calls below it compile to nothing in this source file. 0
/// debug, 1 info, 2 warn, 3 error, 4 fatal, 5 no calls.
#if !defined(RCLRT_LOG_LEVEL)
#define RCLRT_LOG_LEVEL 0
#endif

namespace rclrt::realtime {

/// How a logger works.
struct LoggerOptions {
  /// How often the logger's thread empties the rings.
  SaturatingMilliseconds period = std::chrono::milliseconds(10);
  /// The capacity of each thread's ring in bytes, rounded up to a power of two, at least 16 KiB. A
  /// line takes 32 bytes, 8 more for each argument, and the bytes of its strings, of its format and
  /// of the path of its source file.
  std::size_t ring_bytes = std::size_t{64} * 1024;
  LogLevel level = LogLevel::kInfo;  ///< lines below it are not logged
  TickClock clock = TickClock::best();
};

/// The counters of a logger.
struct LoggerStatistics {
  std::uint64_t lines = 0;          ///< passed to the sinks
  std::uint64_t dropped = 0;        ///< lines that found their ring full
  std::uint64_t format_errors = 0;  ///< lines with a format unsuitable for their arguments
  std::uint64_t sink_errors = 0;    ///< calls of sinks that threw
  std::string last_error;           ///< text of the last of these exceptions
  std::size_t threads = 0;          ///< rings in use
};

/// Formats the lines that ThreadLoggers log and passes them to the sinks, on its own thread. It
/// does so in passes; lines that were logged before the same pass are passed on in order of time.
/// All functions are thread-safe.
class RCLRT_REALTIME_EXPORT Logger {
 public:
  /// Makes a logger; the sinks must outlive it. Throws std::invalid_argument for options out of
  /// range and std::system_error when no thread can be started.
  RCLRT_SETUP explicit Logger(std::vector<std::reference_wrapper<LogSink>> sinks,
                              const LoggerOptions& options = {});

  /// Passes all remaining lines to the sinks. If ThreadLoggers outlive the logger, they log nothing
  /// after that.
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  /// Disables the lines below `level`; kOff disables all lines.
  void set_level(LogLevel level) noexcept RCLRT_NONBLOCKING;
  LogLevel level() const noexcept RCLRT_NONBLOCKING;

  /// Waits until all lines logged before the call have been passed to the sinks and the sinks have
  /// been flushed. Must not be called from a sink, which would wait for itself.
  RCLRT_SETUP void flush();

  RCLRT_SETUP LoggerStatistics statistics() const;

 private:
  template <LogLevel>
  friend class BasicThreadLogger;
  RCLRT_SETUP detail::AttachedRing attach(std::string_view thread_name);

  class Implementation;
  const std::unique_ptr<Implementation> implementation_;
};

/// Lets one line per period pass and counts the others; the next line that passes states their
/// number. Use one object for each place in the source, usually `static constinit`. Thread-safe.
class LogRateLimit {
 public:
  /// Admits one line in each `period`; with std::chrono::nanoseconds::max() one line in total.
  constexpr explicit LogRateLimit(SaturatingNanoseconds period) noexcept RCLRT_NONBLOCKING
      : period_ns_(period.count()) {}

  /// Decides whether a line at `now_ns` (CLOCK_MONOTONIC) is logged. If so, returns the number of
  /// lines that were suppressed before it; if not, std::nullopt.
  std::optional<std::uint32_t> admit(std::int64_t now_ns) noexcept RCLRT_NONBLOCKING {
    // Relaxed throughout: the thread that succeeds in the exchange logs the line, and next_ns_
    // and suppressed_ publish no other data.
    std::int64_t next_ns = next_ns_.load(std::memory_order_relaxed);
    const std::int64_t after_ns = period_ns_ > INT64_MAX - now_ns ? INT64_MAX : now_ns + period_ns_;
    if (now_ns < next_ns ||
        !next_ns_.compare_exchange_strong(next_ns, after_ns, std::memory_order_relaxed)) {
      give_back(1);
      return std::nullopt;
    }
    return suppressed_.exchange(0, std::memory_order_relaxed);  // as above
  }

  /// Adds lines that were not logged after all to the suppressed lines.
  void give_back(std::uint32_t lines) noexcept RCLRT_NONBLOCKING {
    suppressed_.fetch_add(lines, std::memory_order_relaxed);
  }

 private:
  const std::int64_t period_ns_;
  std::atomic<std::int64_t> next_ns_{INT64_MIN};
  std::atomic<std::uint32_t> suppressed_{0};
};

/// Logs for one thread at a time. The constructor is for set-up; every other function is wait-free,
/// allocates nothing and makes no system call. If the ring is full, the line is dropped and
/// counted. Movable.
///
/// Formats are those of fmt and std::format, without nested placeholders. Arguments are copied:
/// integers, floating-point numbers, bool, char, enums (as numbers), durations, pointers and
/// strings of up to kMaxLogString bytes.
template <LogLevel kFloor>
class BasicThreadLogger {
 public:
  /// A format string, checked against its arguments when it is compiled.
  template <typename... Args>
  using Format = LogFormat<std::type_identity_t<Args>...>;

  /// Makes a logger; each line contains `name`. Throws std::bad_alloc.
  RCLRT_SETUP BasicThreadLogger(Logger& logger, std::string_view name)
      : BasicThreadLogger(logger.attach(name)) {}

  /// Returns whether lines of this level are logged now.
  bool logs(LogLevel level) const noexcept RCLRT_NONBLOCKING {
    return level >= kFloor &&
           static_cast<std::uint8_t>(level) >= gate_->load(std::memory_order_relaxed);
  }

  /// Logs a line unless its level is below the logger's.
  template <LogLevel kLevel, typename... Args>
  void log(Format<Args...> format, const Args&... arguments) noexcept RCLRT_NONBLOCKING {
    static_assert(kLevel <= LogLevel::kFatal, "kOff is for thresholds only");
    if constexpr (kLevel >= kFloor) {
      if (logs(kLevel)) {
        put(kLevel, 0, format, detail::log_types<Args...>(),
            detail::prepare_log_argument(arguments)...);
      }
    }
  }

  /// Logs at most once per period of `limit`; also reads the clock.
  template <LogLevel kLevel, typename... Args>
  void log(LogRateLimit& limit, Format<Args...> format,
           const Args&... arguments) noexcept RCLRT_NONBLOCKING {
    if constexpr (kLevel >= kFloor) {
      if (!logs(kLevel)) {
        return;
      }
      const std::optional<std::uint32_t> suppressed = limit.admit(monotonic_now_ns());
      if (suppressed && !put(kLevel, *suppressed, format, detail::log_types<Args...>(),
                             detail::prepare_log_argument(arguments)...)) {
        limit.give_back(*suppressed);
      }
    }
  }

  /// Logs a line of this level.
  template <typename... Args>
  void debug(Format<Args...> format, const Args&... arguments) noexcept RCLRT_NONBLOCKING {
    log<LogLevel::kDebug>(format, arguments...);
  }
  template <typename... Args>
  void debug(LogRateLimit& limit, Format<Args...> format,
             const Args&... arguments) noexcept RCLRT_NONBLOCKING {
    log<LogLevel::kDebug>(limit, format, arguments...);
  }
  /// Logs a line of this level.
  template <typename... Args>
  void info(Format<Args...> format, const Args&... arguments) noexcept RCLRT_NONBLOCKING {
    log<LogLevel::kInfo>(format, arguments...);
  }
  template <typename... Args>
  void info(LogRateLimit& limit, Format<Args...> format,
            const Args&... arguments) noexcept RCLRT_NONBLOCKING {
    log<LogLevel::kInfo>(limit, format, arguments...);
  }
  /// Logs a line of this level.
  template <typename... Args>
  void warn(Format<Args...> format, const Args&... arguments) noexcept RCLRT_NONBLOCKING {
    log<LogLevel::kWarn>(format, arguments...);
  }
  template <typename... Args>
  void warn(LogRateLimit& limit, Format<Args...> format,
            const Args&... arguments) noexcept RCLRT_NONBLOCKING {
    log<LogLevel::kWarn>(limit, format, arguments...);
  }
  /// Logs a line of this level.
  template <typename... Args>
  void error(Format<Args...> format, const Args&... arguments) noexcept RCLRT_NONBLOCKING {
    log<LogLevel::kError>(format, arguments...);
  }
  template <typename... Args>
  void error(LogRateLimit& limit, Format<Args...> format,
             const Args&... arguments) noexcept RCLRT_NONBLOCKING {
    log<LogLevel::kError>(limit, format, arguments...);
  }
  /// Logs a line of this level.
  template <typename... Args>
  void fatal(Format<Args...> format, const Args&... arguments) noexcept RCLRT_NONBLOCKING {
    log<LogLevel::kFatal>(format, arguments...);
  }
  template <typename... Args>
  void fatal(LogRateLimit& limit, Format<Args...> format,
             const Args&... arguments) noexcept RCLRT_NONBLOCKING {
    log<LogLevel::kFatal>(limit, format, arguments...);
  }

  /// Returns the number of lines dropped because the ring was full. Thread-safe.
  std::uint64_t dropped() const noexcept RCLRT_NONBLOCKING { return ring_->bytes.dropped(); }

 private:
  explicit BasicThreadLogger(detail::AttachedRing attached)
      : ring_(std::move(attached.ring)), gate_(ring_->gate.get()), clock_(attached.clock) {}

  template <typename AnyFormat, typename... Prepared>
  bool put(LogLevel level, std::uint32_t suppressed, const AnyFormat& format, std::uint64_t types,
           const Prepared&... arguments) noexcept RCLRT_NONBLOCKING {
    using detail::LogRecord;
    const std::string_view text = format.text();
    const std::string_view file = format.file();
    const std::size_t size =
        ((sizeof(LogRecord) + detail::log_source_size(text.size(), file.size())) + ... +
         detail::log_argument_size(arguments));
    std::byte* to = ring_->bytes.try_reserve(size);
    if (to == nullptr) [[unlikely]] {
      return false;
    }
    const LogRecord record{.size = static_cast<std::uint16_t>(size),
                           .level = level,
                           .suppressed = suppressed,
                           .ticks = clock_.now(),
                           .types = types,
                           .line = format.line(),
                           .format_size = static_cast<std::uint16_t>(text.size()),
                           .file_size = static_cast<std::uint16_t>(file.size())};
    std::memcpy(to, &record, sizeof record);
    to += sizeof record;
    ((to = detail::put_log_argument(to, arguments)), ...);
    std::memcpy(to, text.data(), text.size());
    std::memcpy(to + text.size(), file.data(), file.size());
    ring_->bytes.commit(size);
    return true;
  }

  detail::OwnedRing ring_;
  const detail::Gate* gate_;  // ring_ keeps it
  TickClock clock_;
};

/// The logger of one thread, with the level of RCLRT_LOG_LEVEL.
using ThreadLogger =
    BasicThreadLogger<static_cast<LogLevel>(RCLRT_LOG_LEVEL <= 4 ? RCLRT_LOG_LEVEL : 255)>;

}  // namespace rclrt::realtime
