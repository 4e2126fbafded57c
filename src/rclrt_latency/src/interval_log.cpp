// SPDX-License-Identifier: Apache-2.0
#include "interval_log.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::latency {

namespace {

std::int64_t real_now_ns() { return realtime::read_clock_ns(CLOCK_REALTIME); }

std::string tag_of(std::size_t thread, const Series& series) {
  const std::optional<int> cpu = series.threads[thread].cpu;
  return std::string(option_of(series.scheduling.policy)) +
         (cpu ? ".cpu" + std::to_string(*cpu) : ".thread" + std::to_string(thread));
}

}  // namespace

IntervalLog::IntervalLog(std::filesystem::path path) {
  try {
    file_.emplace(std::move(path));
  } catch (const realtime::WriteError& error) {
    throw std::invalid_argument(std::string("--histogram-log: ") + error.what());
  }
  writer_.emplace(file_->stream(), real_now_ns());
  writer_->comment("lateness of wake-ups in nanoseconds, by policy and CPU");
}

void IntervalLog::begin_round() {
  previous_.clear();
  round_ns_ = real_now_ns();
}

void IntervalLog::write(std::size_t thread, const Series& series,
                        const realtime::Histogram& histogram) {
  realtime::Histogram now(histogram);
  realtime::Histogram interval(now);
  const std::int64_t end_ns = real_now_ns();
  std::int64_t start_ns = round_ns_;
  const auto before = previous_.find(thread);
  if (before != previous_.end()) {
    interval.subtract(before->second.histogram);
    start_ns = before->second.end_ns;
  }
  const std::int64_t length_ns = std::max<std::int64_t>(0, end_ns - start_ns);
  writer_->write({tag_of(thread, series), start_ns, length_ns, std::move(interval)});
  previous_.insert_or_assign(thread, Previous{std::move(now), end_ns});
}

void IntervalLog::commit() { file_->commit(); }

}  // namespace rclrt::latency
