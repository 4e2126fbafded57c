// SPDX-License-Identifier: Apache-2.0
#include "event_source.hpp"

#include <utility>

#include "rclrt/model/event_times.hpp"
#include "rclrt/realtime/clock.hpp"
#include "spinning.hpp"

namespace rclrt::runner {

namespace {

/// Above the executors' threads and those of the middleware that applications put above them.
realtime::Scheduling scheduling() {
  constexpr int kPriority = kTopPriority + 2;
  if (realtime::why_no_realtime(kPriority)) {
    return {};
  }
  return {.policy = realtime::Policy::kFifo, .priority = kPriority};
}

}  // namespace

EventSource::EventSource(const model::Event& event, std::string id, Emit emit)
    : event_(event), id_(std::move(id)), emit_(std::move(emit)) {}

void EventSource::begin(std::int64_t epoch_ns) {
  const auto run = [this, epoch_ns](const realtime::StopFlag& stop) {
    model::EventTimes times(event_, id_);
    for (std::uint64_t number = 0;; ++number) {
      const std::int64_t since_ns = times.next().count();
      if (since_ns >= INT64_MAX - epoch_ns || stop.wait_until(epoch_ns + since_ns)) {
        return;
      }
      emit_(number, epoch_ns + since_ns);
    }
  };
  thread_ = realtime::Thread({.name = "event " + id_, .scheduling = scheduling()}, run);
}

}  // namespace rclrt::runner
