// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/flight_recorder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "event_history.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/mpsc_queue.hpp"
#include "rclrt/realtime/perfetto_writer.hpp"
#include "trace_export.hpp"

namespace rclrt::realtime {

namespace {

constexpr std::size_t kRequests = 64;  // between two passes

/// Has a copy of the text, because the component that contains the text may be unloaded meanwhile.
struct Request {
  std::int64_t time_ns = 0;
  std::array<char, FlightRecorder::kMaxReason + 1> reason{};  // ends with a zero
};

std::int64_t nanoseconds(std::chrono::milliseconds duration) {
  return std::chrono::nanoseconds(duration).count();
}

FlightRecorderOptions checked(FlightRecorderOptions options) {
  if (options.max_bytes < sizeof(TraceEvent)) {
    throw std::invalid_argument(
        "FlightRecorder: max_bytes must have room for one event, which takes " +
        std::to_string(sizeof(TraceEvent)) + " bytes");
  }
  constexpr std::chrono::milliseconds kLeast(0);
  constexpr std::chrono::milliseconds kMost = std::chrono::hours(365 * 24);
  for (const auto duration : {options.before, options.after, options.min_interval}) {
    if (duration < kLeast || duration > kMost) {
      throw std::invalid_argument(
          "FlightRecorder: before, after and min_interval must be from 0 to a year");
    }
  }
  return options;
}

}  // namespace

class FlightRecorder::Implementation {
 public:
  explicit Implementation(FlightRecorderOptions options)
      : options_(checked(std::move(options))),
        history_(options_.max_bytes / sizeof(TraceEvent)),
        requests_(kRequests) {
    statistics_.capacity = history_.capacity();
    dump_.reserve(kRequests);
  }

  void request(const char* reason) noexcept RCLRT_NONBLOCKING {
    Request request{.time_ns = monotonic_now_ns()};
    const char* const text = reason != nullptr ? reason : "(null)";
    std::memcpy(request.reason.data(), text,
                RCLRT_TRUST("strnlen only reads", strnlen(text, kMaxReason)));
    if (!requests_.try_push(request)) {
      // An independent count: it orders nothing.
      refused_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void write(std::span<const TraceEvent> events) {
    for (const TraceEvent& event : events) {
      history_.add(event);
    }
  }

  void pass_done(std::int64_t now_ns, const TraceDictionary& dictionary) {
    history_.forget_before(now_ns - nanoseconds(options_.before) - nanoseconds(options_.after));
    take_requests();
    if (!dump_.empty() && now_ns - dump_.front().time_ns >= nanoseconds(options_.after)) {
      write_dump(dictionary);
    }
    const std::lock_guard lock(mutex_);
    statistics_.events = history_.size();
  }

  void finish(const TraceDictionary& dictionary) {
    take_requests();
    if (!dump_.empty()) {
      write_dump(dictionary);
    }
  }

  FlightRecorderStatistics statistics() const {
    const std::lock_guard lock(mutex_);
    FlightRecorderStatistics result = statistics_;
    result.suppressed += refused_.load(std::memory_order_relaxed);  // see request()
    return result;
  }

 private:
  void take_requests() {
    Request request{};
    const std::lock_guard lock(mutex_);
    while (requests_.try_pop(request)) {
      if (!dump_.empty() && dump_.size() < kRequests &&
          request.time_ns - dump_.front().time_ns <= nanoseconds(options_.after)) {
        dump_.push_back(request);
        ++statistics_.merged;
      } else if (!dump_.empty() || attempts_ == options_.max_dumps ||
                 (last_ns_ && request.time_ns - *last_ns_ < nanoseconds(options_.min_interval))) {
        ++statistics_.suppressed;
      } else {
        dump_.push_back(request);
        last_ns_ = request.time_ns;
        ++attempts_;
      }
    }
  }

  void write_dump(const TraceDictionary& dictionary) {
    const std::filesystem::path path = next_path();
    std::optional<std::string> error;
    try {
      write_dump(path, dictionary);
    } catch (const std::exception& exception) {
      error = exception.what();
    }
    dump_.clear();
    const std::lock_guard lock(mutex_);
    if (error) {
      ++statistics_.failed;
      statistics_.last_error = *error;
    } else {
      ++statistics_.dumps;
      statistics_.last_file = path;
    }
  }

  void write_dump(const std::filesystem::path& path, const TraceDictionary& dictionary) {
    PerfettoWriter writer(path, this_perfetto_process(options_.name));
    const PerfettoTrack requests = writer.add_track("dump requests");
    for (const Request& request : dump_) {
      writer.instant(requests, request.time_ns, {.name = request.reason.data()});
    }
    history_.forget_before(dump_.front().time_ns - nanoseconds(options_.before));
    TraceExport events(writer);
    events.write(history_.open(), dictionary);
    history_.visit_in_order(
        [&](const TraceEvent& event) { events.write({&event, 1}, dictionary); });
    writer.finish();
  }

  std::filesystem::path next_path() {
    std::filesystem::path path;
    std::error_code ignored;  // then writing fails, too, and is reported
    do {
      path = options_.directory / (options_.name + "-" + std::to_string(++number_) + ".pftrace");
    } while (std::filesystem::exists(path, ignored));
    return path;
  }

  const FlightRecorderOptions options_;
  EventHistory history_;
  MpscQueue<Request> requests_;
  std::atomic<std::uint64_t> refused_{0};
  // The requests of the next dump, which waits until `after` has passed; the first one is the
  // trigger. Empty: no dump waits.
  std::vector<Request> dump_;
  std::optional<std::int64_t> last_ns_;  // trigger of the last dump
  std::uint32_t attempts_ = 0;
  std::uint32_t number_ = 0;
  mutable std::mutex mutex_;  // guards statistics_
  FlightRecorderStatistics statistics_;
};

FlightRecorder::FlightRecorder(FlightRecorderOptions options)
    : implementation_(std::make_unique<Implementation>(std::move(options))) {}

FlightRecorder::~FlightRecorder() = default;

void FlightRecorder::request_dump(const char* reason) noexcept RCLRT_NONBLOCKING {
  implementation_->request(reason);
}

FlightRecorderStatistics FlightRecorder::statistics() const {
  return implementation_->statistics();
}

void FlightRecorder::write(std::span<const TraceEvent> events, const TraceDictionary&) {
  implementation_->write(events);
}

void FlightRecorder::pass_done(std::int64_t now_ns, const TraceDictionary& dictionary) {
  implementation_->pass_done(now_ns, dictionary);
}

void FlightRecorder::finish(const TraceDictionary& dictionary) {
  implementation_->finish(dictionary);
}

}  // namespace rclrt::realtime
