// SPDX-License-Identifier: Apache-2.0
// Records the events of threads, at a few nanoseconds each, and passes them to sinks.
#pragma once

#include <unistd.h>

#include <atomic>
#include <bit>
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
#include <vector>

#include "rclrt/realtime/duration.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/thread_ring.hpp"
#include "rclrt/realtime/tick_clock.hpp"
#include "rclrt/realtime/trace_event.hpp"

/// 0: every call that records a trace event compiles to nothing, in this source file or in all of
/// them (CMake: -DRCLRT_TRACING=OFF).
#if !defined(RCLRT_TRACING)
#define RCLRT_TRACING 1
#endif

namespace rclrt::realtime {

/// How a tracer works.
struct TracerOptions {
  /// How often the drain thread empties the rings.
  SaturatingMilliseconds period = std::chrono::milliseconds(10);
  /// Capacity of each thread's ring in records of 32 bytes, rounded up to a power of two. The ring
  /// must hold all records that the thread makes within `period`. Others are dropped and counted.
  std::size_t ring_records = 8192;
  TickClock clock = TickClock::best();
  bool enabled = true;
};

/// The counters of a tracer.
struct TracerStatistics {
  std::uint64_t recorded = 0;       ///< events that reached the sinks
  std::uint64_t dropped = 0;        ///< records that found their ring full
  std::size_t threads = 0;          ///< rings in use
  std::int64_t clock_error_ns = 0;  ///< every time is exact within ± this, see TickConverter
  std::uint64_t sink_errors = 0;    ///< sinks no longer called because they threw
  std::string last_error;           ///< text of the last exception
};

/// Collects the records of the ThreadTracers and passes them to the sinks on its own thread. All
/// functions are thread-safe.
class RCLRT_REALTIME_EXPORT Tracer {
 public:
  /// Makes a tracer; the sinks must outlive it. Throws std::invalid_argument for options out of
  /// range and std::system_error when no thread can be started.
  RCLRT_SETUP explicit Tracer(std::vector<std::reference_wrapper<TraceSink>> sinks,
                              const TracerOptions& options = {});

  /// Passes all remaining events to the sinks and finishes the sinks. If ThreadTracers outlive the
  /// tracer, they record nothing after that.
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  /// Returns the number of a name for spans, instants or a counter. For a counter, `category` is
  /// its unit. See TraceDictionary::name.
  RCLRT_SETUP TraceName name(std::string_view text, std::string_view category = {});

  /// Turns recording on or off from now on.
  void enable(bool enabled) noexcept RCLRT_NONBLOCKING;
  bool enabled() const noexcept RCLRT_NONBLOCKING;

  /// Adds a sink, which receives the events from now on. The sink must outlive the tracer, or be
  /// removed before it is destroyed.
  RCLRT_SETUP void add_sink(TraceSink& sink);

  /// Passes the events recorded so far to the sink, finishes it and removes it.
  RCLRT_SETUP void remove_sink(TraceSink& sink);

  /// Waits until all events recorded before the call have been passed to the sinks. A sink must
  /// not call this function, add_sink or remove_sink, because it would wait for itself.
  RCLRT_SETUP void flush();

  RCLRT_SETUP TracerStatistics statistics() const;

 private:
  template <bool>
  friend class BasicThreadTracer;
  RCLRT_SETUP detail::AttachedRing attach(std::string_view thread_name);

  class Implementation;
  const std::unique_ptr<Implementation> implementation_;
};

/// The optional properties of a span or an instant.
struct TraceDetails {
  std::uint32_t flow = 0;                            ///< a number the user chooses; 0: none
  bool last_of_flow = false;                         ///< the arrows of `flow` end here
  std::optional<std::int64_t> value = std::nullopt;  ///< shown when the event is selected
};

namespace detail {
/// A record in the ring.
struct TraceRecord {
  std::uint64_t begin_ticks;
  std::uint64_t end_ticks;
  std::int64_t value;  // for a counter: the bits of the double
  std::uint32_t flow;
  TraceName name;
  TraceKind kind;
  std::uint8_t flags;

  static constexpr std::uint8_t kHasValue = 1;
  static constexpr std::uint8_t kLastOfFlow = 2;
};
static_assert(sizeof(TraceRecord) == 32 && std::is_trivially_copyable_v<TraceRecord>);
}  // namespace detail

/// Records trace events for one thread at a time. The constructor is for set-up; every other
/// function is wait-free and makes no system call. If the ring is full, the record is dropped and
/// counted. Movable.
template <bool kCompiledIn>
class BasicThreadTracer {
 public:
  /// Makes a track named `thread_name` for the calling thread. Make only one for each thread.
  /// Throws std::bad_alloc.
  RCLRT_SETUP BasicThreadTracer(Tracer& tracer, std::string_view thread_name)
      : BasicThreadTracer(tracer.attach(thread_name)) {}

  /// Assigns this object, which another thread made, to the calling thread: its track is that of
  /// the calling thread from now on. Call it before the first record.
  void adopt() noexcept RCLRT_NONBLOCKING {
    ring_->tid.store(RCLRT_TRUST("gettid does not sleep", gettid()), std::memory_order_relaxed);
  }

  /// Returns whether calls record anything now.
  bool recording() const noexcept RCLRT_NONBLOCKING {
    return kCompiledIn && gate_->load(std::memory_order_relaxed) != detail::kGateClosed;
  }

  /// Begins a span that is visible as soon as it has begun, even if it never ends. It costs two
  /// records; a TraceSpan costs one. Begin and end must nest like brackets.
  void begin(TraceName name, const TraceDetails& details = {}) noexcept RCLRT_NONBLOCKING {
    if (recording()) {
      put(TraceKind::kBegin, name, clock_.now(), 0, details);
    }
  }

  /// Ends the innermost span of this name that `begin` began, and those within it.
  void end(TraceName name) noexcept RCLRT_NONBLOCKING {
    if (recording()) {
      put(TraceKind::kEnd, name, clock_.now(), 0, {});
    }
  }

  /// Records an event without duration at the current time.
  void instant(TraceName name, const TraceDetails& details = {}) noexcept RCLRT_NONBLOCKING {
    if (recording()) {
      put(TraceKind::kInstant, name, clock_.now(), 0, details);
    }
  }

  /// Records that the counter `name` has the value `number` from now on. A counter has one track,
  /// whichever threads record it.
  void counter(TraceName name, double number) noexcept RCLRT_NONBLOCKING {
    if (recording()) {
      put(TraceKind::kCounter, name, clock_.now(), 0,
          {.value = std::bit_cast<std::int64_t>(number)});
    }
  }

  /// Returns the ticks for `span`.
  std::uint64_t now() const noexcept RCLRT_NONBLOCKING { return kCompiledIn ? clock_.now() : 0; }

  /// Records a span with known begin and end. TraceSpan is more convenient.
  void span(TraceName name, std::uint64_t begin_ticks, std::uint64_t end_ticks,
            const TraceDetails& details = {}) noexcept RCLRT_NONBLOCKING {
    if (recording()) {
      put(TraceKind::kSpan, name, begin_ticks, end_ticks, details);
    }
  }

  /// Returns the number of records dropped because the ring was full. Thread-safe.
  std::uint64_t dropped() const noexcept RCLRT_NONBLOCKING { return ring_->bytes.dropped(); }

 private:
  explicit BasicThreadTracer(detail::AttachedRing attached)
      : ring_(std::move(attached.ring)), gate_(ring_->gate.get()), clock_(attached.clock) {}

  void put(TraceKind kind, TraceName name, std::uint64_t begin_ticks, std::uint64_t end_ticks,
           const TraceDetails& details) noexcept RCLRT_NONBLOCKING {
    using detail::TraceRecord;
    std::byte* const to = ring_->bytes.try_reserve(sizeof(TraceRecord));
    if (to == nullptr) [[unlikely]] {
      return;
    }
    const unsigned flags = (details.value ? TraceRecord::kHasValue : 0U) |
                           (details.last_of_flow ? TraceRecord::kLastOfFlow : 0U);
    const TraceRecord record{begin_ticks, end_ticks, details.value.value_or(0),       details.flow,
                             name,        kind,      static_cast<std::uint8_t>(flags)};
    std::memcpy(to, &record, sizeof record);
    ring_->bytes.commit(sizeof record);
  }

  detail::OwnedRing ring_;
  const detail::Gate* gate_;  // ring_ keeps it
  TickClock clock_;
};

/// A span from construction to destruction, in one record written at its end.
template <bool kCompiledIn>
class [[nodiscard]] BasicTraceSpan {
 public:
  /// Begins the span.
  BasicTraceSpan(BasicThreadTracer<kCompiledIn>& thread, TraceName name,
                 const TraceDetails& details = {}) noexcept RCLRT_NONBLOCKING
      : thread_(thread.recording() ? &thread : nullptr),
        name_(name),
        details_(details) {
    if (thread_ != nullptr) {
      begin_ticks_ = thread_->now();
    }
  }
  ~BasicTraceSpan() noexcept RCLRT_NONBLOCKING {
    if (thread_ != nullptr) {
      thread_->span(name_, begin_ticks_, thread_->now(), details_);
    }
  }
  BasicTraceSpan(const BasicTraceSpan&) = delete;
  BasicTraceSpan& operator=(const BasicTraceSpan&) = delete;

 private:
  BasicThreadTracer<kCompiledIn>* const thread_;
  const TraceName name_;
  const TraceDetails details_;
  std::uint64_t begin_ticks_ = 0;
};

/// The tracer of one thread.
using ThreadTracer = BasicThreadTracer<RCLRT_TRACING != 0>;
/// A span of a ThreadTracer.
using TraceSpan = BasicTraceSpan<RCLRT_TRACING != 0>;

}  // namespace rclrt::realtime
