// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/tracer.hpp"

#include <algorithm>
#include <mutex>
#include <span>
#include <stdexcept>
#include <utility>

#include "rclrt/realtime/periodic_drain.hpp"
#include "thrown_by.hpp"
#include "trace_order.hpp"

namespace rclrt::realtime {

namespace {

constexpr std::size_t kBatch = 4096;  // events passed on at once; bounds memory
constexpr std::uint8_t kGateOpen = 0;

std::uint8_t gate_for(bool enabled) noexcept { return enabled ? kGateOpen : detail::kGateClosed; }

}  // namespace

class Tracer::Implementation {
 public:
  Implementation(std::vector<std::reference_wrapper<TraceSink>> sinks, const TracerOptions& options)
      : rings_(gate_for(options.enabled)),
        ring_bytes_(options.ring_records * sizeof(detail::TraceRecord)),
        converter_(options.clock),
        sinks_(std::move(sinks)) {
    if (options.ring_records == 0) {
      throw std::invalid_argument("Tracer: a thread's ring must hold at least 1 record");
    }
    events_.reserve(kBatch);
    ordered_.reserve(kBatch);
    order_.reserve(kBatch);
    drain_.emplace("rclrt_tracer", options.period, [this] { pass(); });
  }

  ~Implementation() {
    rings_.gate().store(detail::kGateClosed, std::memory_order_relaxed);  // see detail::Gate
    drain_->stop();
    for (TraceSink& sink : sinks_) {
      guarded(sink, [&] { sink.finish(dictionary_); });
    }
  }

  detail::OwnedRing attach(std::string_view thread_name) {
    const TraceThread thread = dictionary_.thread(thread_name, gettid());
    return rings_.add(thread_name, static_cast<std::uint32_t>(thread), ring_bytes_,
                      sizeof(detail::TraceRecord));
  }

  void add_sink(TraceSink& sink) {
    const std::lock_guard lock(sinks_mutex_);
    sinks_.emplace_back(sink);
  }

  void remove_sink(TraceSink& sink) {
    drain_->flush();
    const std::lock_guard lock(sinks_mutex_);
    const auto is_it = [&](TraceSink& other) { return &other == &sink; };
    if (std::erase_if(sinks_, is_it) != 0) {
      guarded(sink, [&] { sink.finish(dictionary_); });
    }
  }

  TracerStatistics statistics() const {
    const std::lock_guard lock(statistics_mutex_);
    return statistics_;
  }

  detail::Gate& gate() noexcept RCLRT_NONBLOCKING { return rings_.gate(); }
  TickClock clock() const { return converter_.clock(); }
  TraceDictionary& dictionary() { return dictionary_; }
  void flush() { drain_->flush(); }

 private:
  void pass() {
    const std::lock_guard lock(sinks_mutex_);
    const std::int64_t now_ns = monotonic_now_ns();  // refresh() sees all records until then
    const detail::ThreadRings::List& rings = rings_.refresh();
    converter_.sample();  // later than every tick that refresh() has seen
    for (const auto& ring : rings) {
      empty(*ring, now_ns);
    }
    for (std::size_t i = 0; i < sinks_.size(); ++i) {
      guarded(sinks_[i], [&] { sinks_[i].get().pass_done(now_ns, dictionary_); });
    }
    forget_failed_sinks();
    {
      const std::lock_guard statistics_lock(statistics_mutex_);
      statistics_.threads = rings.size();
      statistics_.clock_error_ns = converter_.error_ns();
    }
    rings_.remove_ended();
  }

  void empty(detail::ThreadRing& ring, std::int64_t now_ns) {
    const auto thread = TraceThread{ring.id};
    dictionary_.set_tid(thread, ring.tid.load(std::memory_order_relaxed));  // for display only
    while (const std::byte* bytes = ring.bytes.front()) {
      detail::TraceRecord record;
      std::memcpy(&record, bytes, sizeof record);
      ring.bytes.pop(sizeof record);
      events_.push_back(convert(record, thread));
      if (events_.size() == kBatch - 1) {  // there may be one more, about dropped records
        hand_over();
      }
    }
    const std::uint64_t dropped = ring.bytes.dropped();
    if (dropped != ring.dropped_told) {
      events_.push_back({.begin_ns = now_ns,
                         .end_ns = now_ns,
                         .value = static_cast<std::int64_t>(dropped),
                         .thread = thread,
                         .kind = TraceKind::kDropped});
      const std::lock_guard lock(statistics_mutex_);
      statistics_.dropped += dropped - std::exchange(ring.dropped_told, dropped);
      --statistics_.recorded;  // the event that reports this is no record
    }
    hand_over();
  }

  TraceEvent convert(const detail::TraceRecord& record, TraceThread thread) const {
    TraceEvent event{.begin_ns = converter_.to_monotonic_ns(record.begin_ticks),
                     .thread = thread,
                     .flow = record.flow,
                     .name = record.name,
                     .kind = record.kind,
                     .last_of_flow = (record.flags & detail::TraceRecord::kLastOfFlow) != 0};
    event.end_ns = event.begin_ns;
    if (record.kind == TraceKind::kSpan) {
      event.end_ns = std::max(event.begin_ns, converter_.to_monotonic_ns(record.end_ticks));
    }
    if (record.kind == TraceKind::kCounter) {
      event.number = std::bit_cast<double>(record.value);
    } else {
      event.has_value = (record.flags & detail::TraceRecord::kHasValue) != 0;
      event.value = record.value;
    }
    return event;
  }

  void hand_over() {
    if (events_.empty()) {
      return;
    }
    const auto event_at = [this](std::size_t number) -> const TraceEvent& {
      return events_[number];
    };
    order_by_begin(events_.size(), event_at, order_);
    for (const std::uint32_t number : order_) {
      ordered_.push_back(events_[number]);
    }
    for (TraceSink& sink : sinks_) {
      guarded(sink, [&] { sink.write(ordered_, dictionary_); });
    }
    ordered_.clear();
    const std::lock_guard lock(statistics_mutex_);
    statistics_.recorded += events_.size();
    events_.clear();
  }

  /// Calls a sink unless it has failed. An error is recorded, and the sink is not called again.
  template <typename Call>
  void guarded(TraceSink& sink, const Call& call) {
    if (std::find(failed_.begin(), failed_.end(), &sink) != failed_.end()) {
      return;
    }
    if (std::optional<std::string> error = thrown_by(call)) {
      failed_.push_back(&sink);
      const std::lock_guard lock(statistics_mutex_);
      ++statistics_.sink_errors;
      statistics_.last_error = *std::move(error);
    }
  }

  void forget_failed_sinks() {
    for (TraceSink* const failed : failed_) {
      std::erase_if(sinks_, [&](TraceSink& sink) { return &sink == failed; });
    }
    failed_.clear();
  }

  TraceDictionary dictionary_;
  detail::ThreadRings rings_;
  const std::size_t ring_bytes_;
  TickConverter converter_;  // used only by the drain thread, except its constant clock
  // Used only by the drain thread: the events that it passes on at once, as recorded and in order.
  std::vector<TraceEvent> events_;
  std::vector<TraceEvent> ordered_;
  std::vector<std::uint32_t> order_;
  std::mutex sinks_mutex_;  // guards the two that follow
  std::vector<std::reference_wrapper<TraceSink>> sinks_;
  std::vector<TraceSink*> failed_;
  mutable std::mutex statistics_mutex_;  // guards statistics_
  TracerStatistics statistics_;
  std::optional<PeriodicDrain> drain_;  // last: its thread uses all of the above
};

Tracer::Tracer(std::vector<std::reference_wrapper<TraceSink>> sinks, const TracerOptions& options)
    : implementation_(std::make_unique<Implementation>(std::move(sinks), options)) {}

Tracer::~Tracer() = default;

TraceName Tracer::name(std::string_view text, std::string_view category) {
  return implementation_->dictionary().name(text, category);
}

void Tracer::enable(bool enabled) noexcept RCLRT_NONBLOCKING {
  implementation_->gate().store(gate_for(enabled), std::memory_order_relaxed);  // see detail::Gate
}

bool Tracer::enabled() const noexcept RCLRT_NONBLOCKING {
  // Relaxed, see detail::Gate.
  return implementation_->gate().load(std::memory_order_relaxed) != detail::kGateClosed;
}

void Tracer::add_sink(TraceSink& sink) { implementation_->add_sink(sink); }

void Tracer::remove_sink(TraceSink& sink) { implementation_->remove_sink(sink); }

void Tracer::flush() { implementation_->flush(); }

TracerStatistics Tracer::statistics() const { return implementation_->statistics(); }

detail::AttachedRing Tracer::attach(std::string_view thread_name) {
  return {implementation_->attach(thread_name), implementation_->clock()};
}

}  // namespace rclrt::realtime
