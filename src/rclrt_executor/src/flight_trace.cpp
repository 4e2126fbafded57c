// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/flight_trace.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "rclrt/executor/callback.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::executor {

namespace {
constexpr std::chrono::milliseconds kDrainPeriod(10);
}  // namespace

FlightTrace::FlightTrace(FlightTraceOptions options)
    : options_(std::move(options)),
      queue_(options_.capacity),
      recorder_(options_.recorder),
      drain_("rclrt flight", kDrainPeriod, [this] { drain(); }) {}

FlightTrace::~FlightTrace() {
  drain_.stop();
  recorder_.finish(dictionary_);
}

void FlightTrace::push(const Callback& callback, Item item) noexcept RCLRT_NONBLOCKING {
  const std::string& name = callback.name();
  const std::size_t size = std::min(name.size(), kNameSize - 1);
  std::memcpy(item.callback, name.data(), size);
  item.callback[size] = '\0';
  if (!queue_.try_push(item)) {
    dropped_.fetch_add(1);
  }
}

void FlightTrace::record(const InstanceRecord& record) noexcept RCLRT_NONBLOCKING {
  push(*record.callback, {.callback = {},
                          .id = record.info.id,
                          .start_ns = record.info.start_ns,
                          .end_ns = record.end_ns,
                          .level = record.info.level,
                          .slot = record.slot,
                          .is_miss = false});
  if (options_.sink != nullptr) {
    options_.sink->record(record);
  }
}

void FlightTrace::missed(const DeadlineMiss& miss) noexcept RCLRT_NONBLOCKING {
  push(*miss.callback, {.callback = {},
                        .id = miss.info.id,
                        .start_ns = miss.info.start_ns,
                        .end_ns = miss.end_ns,
                        .level = miss.info.level,
                        .slot = 0,
                        .is_miss = true});
  if (options_.handler != nullptr) {
    options_.handler->missed(miss);
  }
}

realtime::TraceThread FlightTrace::track(const Item& item) {
  const auto [place, added] = tracks_.try_emplace({item.level, item.slot});
  if (added) {
    place->second =
        dictionary_.thread("L" + std::to_string(item.level) + " #" + std::to_string(item.slot), 0);
  }
  return place->second;
}

void FlightTrace::drain() {
  const std::int64_t now_ns = realtime::monotonic_now_ns();
  events_.clear();
  Item item;
  while (queue_.try_pop(item)) {
    if (item.is_miss) {
      misses_[item.id] = *reasons_.insert(std::string("deadline missed: ") + item.callback).first;
      continue;  // its record follows from the same thread
    }
    realtime::TraceEvent event{.begin_ns = item.start_ns,
                               .end_ns = std::max(item.start_ns, item.end_ns),
                               .value = static_cast<std::int64_t>(item.id),
                               .thread = track(item),
                               .name = dictionary_.name(item.callback, "instance"),
                               .kind = realtime::TraceKind::kSpan,
                               .has_value = true};
    events_.push_back(event);
    if (const auto miss = misses_.find(item.id); miss != misses_.end()) {
      event.begin_ns = event.end_ns;
      event.name = dictionary_.name(miss->second, "deadline");
      event.kind = realtime::TraceKind::kInstant;
      events_.push_back(event);
      recorder_.request_dump(reasons_.find(miss->second)->c_str());
      misses_.erase(miss);
    }
  }
  if (misses_.size() > options_.capacity) {
    misses_.clear();  // their records did not fit
  }
  recorder_.write(events_, dictionary_);
  recorder_.pass_done(now_ns, dictionary_);
}

}  // namespace rclrt::executor
