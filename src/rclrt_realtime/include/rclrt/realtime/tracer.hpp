// SPDX-License-Identifier: Apache-2.0
// Records what threads do, at a few nanoseconds an event, and hands it to sinks.
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

/// 0 compiles every recording call to nothing, in one source file or in all (CMake:
/// -DRCLRT_TRACING=OFF).
#if !defined(RCLRT_TRACING)
#define RCLRT_TRACING 1
#endif

namespace rclrt::realtime {

/// How a tracer works.
struct TracerOptions {
  /// How often the drain thread empties the rings.
  SaturatingMilliseconds period = std::chrono::milliseconds(10);
  /// Records each thread's ring holds, 32 bytes each; the next power of two. What a thread records
  /// within a period must fit.
  std::size_t ring_records = 8192;
  TickClock clock = TickClock::best();
  bool enabled = true;
};

/// What a tracer has done.
struct TracerStatistics {
  std::uint64_t recorded = 0;       ///< events that reached the sinks
  std::uint64_t dropped = 0;        ///< records that found their ring full
  std::size_t threads = 0;          ///< rings in use
  std::int64_t clock_error_ns = 0;  ///< every time is exact within ± this, see TickConverter
  std::uint64_t sink_errors = 0;    ///< sinks given up because they threw
  std::string last_error;           ///< what the last of them threw
};

/// Gathers what the ThreadTracers record and hands it to the sinks on a thread of its own.
/// All functions are thread-safe.
class RCLRT_REALTIME_EXPORT Tracer {
 public:
  /// Makes a tracer; the sinks must outlive it. Throws std::invalid_argument for options out of
  /// range and std::system_error when no thread can be started.
  RCLRT_SETUP explicit Tracer(std::vector<std::reference_wrapper<TraceSink>> sinks,
                              const TracerOptions& options = {});

  /// Hands over what has been recorded and finishes the sinks. ThreadTracers may live on: they
  /// record nothing from here on.
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  /// Returns the name of spans, instants or a counter. For a counter `category` is its unit. See
  /// TraceDictionary::name.
  RCLRT_SETUP TraceName name(std::string_view text, std::string_view category = {});

  /// Turns recording on or off from now on.
  void enable(bool enabled) noexcept RCLRT_NONBLOCKING;
  bool enabled() const noexcept RCLRT_NONBLOCKING;

  /// Adds a sink for what is drained from now on. It must outlive the tracer or be removed.
  RCLRT_SETUP void add_sink(TraceSink& sink);

  /// Hands the sink what has been recorded so far, finishes it and forgets it.
  RCLRT_SETUP void remove_sink(TraceSink& sink);

  /// Returns when all that was recorded before the call has been handed to the sinks. As the two
  /// above, not from a sink, which would wait for itself.
  RCLRT_SETUP void flush();

  RCLRT_SETUP TracerStatistics statistics() const;

 private:
  template <bool>
  friend class BasicThreadTracer;
  RCLRT_SETUP detail::AttachedRing attach(std::string_view thread_name);

  class Implementation;
  const std::unique_ptr<Implementation> implementation_;
};

/// What a span or an instant may carry besides its name.
struct TraceDetails {
  std::uint32_t flow = 0;                            ///< a number the user chooses; 0: none
  bool last_of_flow = false;                         ///< the arrows of `flow` end here
  std::optional<std::int64_t> value = std::nullopt;  ///< shown when the event is selected
};

namespace detail {
/// As it lies in the ring.
struct TraceRecord {
  std::uint64_t begin_ticks;
  std::uint64_t end_ticks;
  std::int64_t value;  // of a counter: the bits of the double
  std::uint32_t flow;
  TraceName name;
  TraceKind kind;
  std::uint8_t flags;

  static constexpr std::uint8_t kHasValue = 1;
  static constexpr std::uint8_t kLastOfFlow = 2;
};
static_assert(sizeof(TraceRecord) == 32 && std::is_trivially_copyable_v<TraceRecord>);
}  // namespace detail

/// Records for one thread at a time. Made at set-up; every other call is wait-free and makes no
/// system call. When the ring is full the record is dropped and counted. Movable.
template <bool kCompiledIn>
class BasicThreadTracer {
 public:
  /// Makes a track named `thread_name` for the calling thread. One per thread. Throws
  /// std::bad_alloc.
  RCLRT_SETUP BasicThreadTracer(Tracer& tracer, std::string_view thread_name)
      : BasicThreadTracer(tracer.attach(thread_name)) {}

  /// Adopts a tracer made in another thread: its track is that of the calling thread from now on.
  /// Before the first record.
  void adopt() noexcept RCLRT_NONBLOCKING {
    ring_->tid.store(RCLRT_TRUST("gettid does not sleep", gettid()), std::memory_order_relaxed);
  }

  /// Returns whether calls record anything now.
  bool recording() const noexcept RCLRT_NONBLOCKING {
    return kCompiledIn && gate_->load(std::memory_order_relaxed) != detail::kGateClosed;
  }

  /// Begins a span that shows as soon as it has begun, also when it never ends. Costs two records
  /// where a TraceSpan costs one. Begin and end nest as brackets do.
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

  /// Records something that happened now.
  void instant(TraceName name, const TraceDetails& details = {}) noexcept RCLRT_NONBLOCKING {
    if (recording()) {
      put(TraceKind::kInstant, name, clock_.now(), 0, details);
    }
  }

  /// Records that the quantity `name` is `number` from now on. One track per name, whichever thread
  /// records it.
  void counter(TraceName name, double number) noexcept RCLRT_NONBLOCKING {
    if (recording()) {
      put(TraceKind::kCounter, name, clock_.now(), 0,
          {.value = std::bit_cast<std::int64_t>(number)});
    }
  }

  /// Returns the ticks for `span`.
  std::uint64_t now() const noexcept RCLRT_NONBLOCKING { return kCompiledIn ? clock_.now() : 0; }

  /// Records a span of which both ends are known. TraceSpan is the convenient way.
  void span(TraceName name, std::uint64_t begin_ticks, std::uint64_t end_ticks,
            const TraceDetails& details = {}) noexcept RCLRT_NONBLOCKING {
    if (recording()) {
      put(TraceKind::kSpan, name, begin_ticks, end_ticks, details);
    }
  }

  /// Records that found the ring full. Any thread.
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

/// What a thread traces with.
using ThreadTracer = BasicThreadTracer<RCLRT_TRACING != 0>;
/// A span of a ThreadTracer.
using TraceSpan = BasicTraceSpan<RCLRT_TRACING != 0>;

}  // namespace rclrt::realtime
