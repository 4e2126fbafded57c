// SPDX-License-Identifier: Apache-2.0
#include "wake_up_thread.hpp"

#include <utility>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/recorder/host_probe.hpp"

namespace rclrt::latency {

namespace {

constexpr std::size_t kSamples = 32'768;                 // 1.6 s at the shortest interval
constexpr std::size_t kStack = std::size_t{256} << 10U;  // all of it is locked
constexpr std::size_t kTouched = std::size_t{64} << 10U;

}  // namespace

WakeUpThread::WakeUpThread(WakeUpOptions options, realtime::StopFlag& stop_all,
                           const BreakPoint* break_point)
    : options_(std::move(options)),
      stop_all_(stop_all),
      break_point_(break_point),
      samples_(kSamples) {
  if (break_point_ != nullptr) {
    slice_ = break_point_->tracer.name("Wakeup");
    trace_.emplace(break_point_->tracer, options_.name);
  }
  thread_ = realtime::Thread({.name = options_.name,
                              .scheduling = options_.scheduling,
                              .stack_size = kStack,
                              .stack_prefault = kTouched},
                             [this](const realtime::StopFlag& stop) { run(stop); });
}

void WakeUpThread::stop() noexcept {
  thread_.request_stop();
  thread_.join();
}

void WakeUpThread::run(const realtime::StopFlag& stop) noexcept {
  if (trace_) {
    trace_->adopt();
  }
  const std::int64_t start_ns = realtime::monotonic_now_ns();
  std::int64_t due_ns = options_.first_ns;
  if (start_ns >= due_ns) {  // a late start of the thread is not a late wake-up
    due_ns = recorder::next_wake_ns(due_ns, start_ns, options_.interval_ns);
  }
  for (std::uint64_t loop = 0; options_.loops == 0 || loop < options_.loops; ++loop) {
    realtime::sleep_until_ns(due_ns);
    const std::int64_t now_ns = realtime::monotonic_now_ns();
    if (stop.stop_requested() || stop_all_.stop_requested()) {
      break;
    }
    record({.due_ns = due_ns, .late_ns = now_ns - due_ns});
    const std::int64_t next_ns = recorder::next_wake_ns(due_ns, now_ns, options_.interval_ns);
    const auto left_out = static_cast<std::uint64_t>((next_ns - due_ns) / options_.interval_ns - 1);
    missed_.fetch_add(left_out, std::memory_order_relaxed);
    due_ns = next_ns;
  }
  finished_.store(true);
}

void WakeUpThread::record(const Sample& sample) noexcept {
  histogram_.record_alone(sample.late_ns);
  last_ns_.store(sample.late_ns, std::memory_order_relaxed);
  if (!samples_.try_push(sample)) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
  }
  if (break_point_ == nullptr) {
    return;
  }
  // The tracer's ticks are nanoseconds of CLOCK_MONOTONIC, see measurement.cpp.
  trace_->span(slice_, static_cast<std::uint64_t>(sample.due_ns),
               static_cast<std::uint64_t>(sample.due_ns + sample.late_ns),
               {.value = sample.late_ns});
  if (sample.late_ns > break_point_->above_ns && !broken_) {
    broken_ = sample;
    break_point_->recorder.request_dump("woke above the threshold");
    stop_all_.request_stop();
  }
}

}  // namespace rclrt::latency
