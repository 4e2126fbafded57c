// SPDX-License-Identifier: Apache-2.0
#include "event_source.hpp"

#include <utility>

#include "rclrt/model/application.hpp"
#include "rclrt/model/event_times.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::runner {

namespace {

/// Above the executors' threads and those of the middleware that applications put above them.
constexpr int kPriority = model::kTopPriority + 2;

realtime::Scheduling scheduling() {
  if (realtime::why_no_realtime(kPriority)) {
    return {};
  }
  return {.policy = realtime::Policy::kFifo, .priority = kPriority};
}

}  // namespace

EventSource::EventSource(const model::Event& event, std::string id, Emit emit)
    : event_(event), id_(std::move(id)), emit_(std::move(emit)) {}

std::optional<std::string> EventSource::why_no_realtime() {
  return realtime::why_no_realtime(kPriority);
}

void EventSource::start() {
  thread_ = realtime::Thread({.name = "event " + id_, .scheduling = scheduling()},
                             [this](const realtime::StopFlag& stop) { release(stop); });
}

void EventSource::begin(std::int64_t epoch_ns) {
  std::int64_t unknown = 0;
  epoch_ns_.compare_exchange_strong(unknown, epoch_ns);
  epoch_ns_.notify_all();
}

void EventSource::stop() {
  begin(kNever_ns);
  thread_.stop();
}

void EventSource::release(const realtime::StopFlag& stop) {
  epoch_ns_.wait(0);
  const std::int64_t epoch_ns = epoch_ns_.load();
  if (epoch_ns == kNever_ns) {
    return;
  }
  model::EventTimes times(event_, id_);
  for (std::uint64_t number = 0;; ++number) {
    const std::int64_t since_ns = times.next().count();
    if (since_ns >= INT64_MAX - epoch_ns || stop.wait_until(epoch_ns + since_ns)) {
      return;
    }
    emit_(number, epoch_ns + since_ns);
  }
}

}  // namespace rclrt::runner
