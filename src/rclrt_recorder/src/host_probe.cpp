// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/host_probe.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "run_delay.hpp"

namespace rclrt::recorder {

HostProbeOptions probe_beside(std::span<const std::vector<int>> cpus_of_executors) {
  HostProbeOptions options;
  options.priority = 98;
  for (const std::vector<int>& cpus : cpus_of_executors) {
    if (cpus.empty()) {
      options.cpus.clear();  // every CPU
      return options;
    }
    options.cpus.insert(options.cpus.end(), cpus.begin(), cpus.end());
  }
  std::sort(options.cpus.begin(), options.cpus.end());
  options.cpus.erase(std::unique(options.cpus.begin(), options.cpus.end()), options.cpus.end());
  return options;
}

StallRecorder::StallRecorder(int cpu, std::int64_t threshold_ns, std::size_t capacity)
    : cpu_(cpu), threshold_ns_(threshold_ns), stalls_(capacity) {}

void StallRecorder::wake(std::int64_t expected_ns, std::int64_t actual_ns,
                         std::int64_t waited_ns) noexcept RCLRT_NONBLOCKING {
  if (actual_ns - expected_ns <= threshold_ns_) {
    return;
  }
  // relaxed: this thread alone writes it
  const std::uint64_t recorded = recorded_.load(std::memory_order_relaxed);
  // acquire: the taking thread has read what is overwritten now. PAIRS WITH: take()
  if (recorded - taken_.load(std::memory_order_acquire) >= stalls_.size()) {
    lost_.fetch_add(1, std::memory_order_relaxed);  // a mere count
    return;
  }
  stalls_[recorded % stalls_.size()] = {.cpu = cpu_,
                                        .start_ns = expected_ns,
                                        .end_ns = actual_ns,
                                        .waited_ns = std::min(waited_ns, actual_ns - expected_ns)};
  // release: the stall is complete. PAIRS WITH: stalls()
  recorded_.store(recorded + 1, std::memory_order_release);
}

std::vector<HostStall> StallRecorder::stalls() const {
  std::vector<HostStall> result;
  // acquire: the stalls up to here are complete. PAIRS WITH: wake()
  const std::uint64_t recorded = recorded_.load(std::memory_order_acquire);
  // relaxed: the thread that calls this writes it
  for (std::uint64_t i = taken_.load(std::memory_order_relaxed); i < recorded; ++i) {
    result.push_back(stalls_[i % stalls_.size()]);
  }
  return result;
}

std::vector<HostStall> StallRecorder::take() {
  std::vector<HostStall> result = stalls();
  // release: the places are free, they have been read. PAIRS WITH: wake()
  taken_.fetch_add(result.size(), std::memory_order_release);
  return result;
}

std::int64_t next_wake_ns(std::int64_t expected_ns, std::int64_t actual_ns,
                          std::int64_t period_ns) noexcept RCLRT_NONBLOCKING {
  const std::int64_t periods = std::max<std::int64_t>(0, (actual_ns - expected_ns) / period_ns);
  return expected_ns + (periods + 1) * period_ns;
}

HostProbe::HostProbe(HostProbeOptions options) : options_(std::move(options)) {
  if (options_.period.count() <= 0) {
    throw std::invalid_argument("HostProbeOptions::period: expected a time above 0");
  }
  if (options_.cpus.empty()) {
    options_.cpus = realtime::allowed_cpus();
  }
  realtime::require_allowed_cpus(options_.cpus);
  for (const int cpu : options_.cpus) {
    recorders_.emplace_back(cpu, options_.threshold.count(), options_.capacity);
  }
}

HostProbe::~HostProbe() { stop(); }

void HostProbe::start() {
  if (!threads_.empty() || stopping_.load()) {
    throw std::logic_error("a host probe starts once");
  }
  not_realtime_ = realtime::why_no_realtime(options_.priority);
  const auto policy = not_realtime_ ? realtime::Policy::kOther : realtime::Policy::kFifo;
  for (std::size_t index = 0; index < recorders_.size(); ++index) {
    const int cpu = options_.cpus[index];
    const realtime::ThreadOptions thread{
        .name = "probe" + std::to_string(cpu),
        .scheduling = {
            .policy = policy, .priority = not_realtime_ ? 0 : options_.priority, .cpus = {cpu}}};
    threads_.emplace_back(thread, [this, index] { run(recorders_[index]); });
  }
}

void HostProbe::stop() noexcept {
  stopping_.store(true);
  threads_.clear();  // joins
}

void HostProbe::run(StallRecorder& recorder) noexcept {
  const std::int64_t period_ns = options_.period.count();
  RunDelay delay;
  std::int64_t expected_ns = realtime::monotonic_now_ns() + period_ns;
  while (!stopping_.load()) {
    realtime::sleep_until_ns(expected_ns);
    const std::int64_t actual_ns = realtime::monotonic_now_ns();
    recorder.wake(expected_ns, actual_ns, delay.added_ns());
    expected_ns = next_wake_ns(expected_ns, actual_ns, period_ns);
    wakes_.fetch_add(1);
  }
}

std::vector<HostStall> HostProbe::take() {
  std::vector<HostStall> result;
  for (StallRecorder& recorder : recorders_) {
    const auto stalls = recorder.take();
    result.insert(result.end(), stalls.begin(), stalls.end());
  }
  std::ranges::sort(result, {}, &HostStall::start_ns);
  return result;
}

HostStallReport HostProbe::state() const {
  HostStallReport report{.valid = !not_realtime_,
                         .reason = not_realtime_.value_or(""),
                         .threshold = options_.threshold,
                         .stalls = {},
                         .limit = realtime::realtime_limit().value_or("")};
  for (const StallRecorder& recorder : recorders_) {
    report.lost += recorder.lost();
  }
  return report;
}

HostStallReport HostProbe::report() const {
  HostStallReport report = state();
  for (const StallRecorder& recorder : recorders_) {
    const auto stalls = recorder.stalls();
    report.stalls.insert(report.stalls.end(), stalls.begin(), stalls.end());
  }
  std::ranges::sort(report.stalls, {}, &HostStall::start_ns);
  return report;
}

}  // namespace rclrt::recorder
