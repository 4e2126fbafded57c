// SPDX-License-Identifier: Apache-2.0
#include "latency_record.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace rclrt::timer_study {

std::array<std::int64_t, 2> FaultCounter::take() noexcept RCLRT_NONBLOCKING {
  rusage usage{};
  RCLRT_TRUST("reads counters of the calling thread", getrusage(RUSAGE_THREAD, &usage));
  const std::array<std::int64_t, 2> now{usage.ru_minflt, usage.ru_majflt};
  const std::array<std::int64_t, 2> result{now[0] - last_[0], now[1] - last_[1]};
  last_ = now;
  return result;
}

LatencyRecord::LatencyRecord(std::size_t rows) : most_rows_(rows) {
  rows_.resize(rows);  // touches the memory
  rows_.clear();
}

void LatencyRecord::begin() noexcept RCLRT_NONBLOCKING { faults_.take(); }

void LatencyRecord::add(const Sample& sample) noexcept RCLRT_NONBLOCKING {
  const std::int64_t latency_ns = sample.latency_ns;
  const auto bin = static_cast<std::size_t>(std::max<std::int64_t>(latency_ns, 0) / 1000);
  if (bin < kBins) {
    ++bins_[bin];
  } else {
    ++overflow_;
  }
  latency_.record_alone(latency_ns);
  since_rcl_call_.record_alone(sample.since_rcl_call_ns);
  min_ns_ = std::min(min_ns_, latency_ns);
  keep_if_large(latency_ns);
  const auto [minor, major] = faults_.take();
  minor_faults_ += minor;
  major_faults_ += major;
  if (rows_.size() < most_rows_) {
    rows_.push_back({sample.release_ns, latency_ns, minor, major});  // within the capacity
  }
  ++count_;
}

void LatencyRecord::keep_if_large(std::int64_t latency_ns) noexcept RCLRT_NONBLOCKING {
  if (top_count_ == kTop && latency_ns <= top_[kTop - 1].latency_ns) {
    return;
  }
  std::size_t place = top_count_ < kTop ? top_count_++ : kTop - 1;
  for (; place > 0 && top_[place - 1].latency_ns < latency_ns; --place) {
    top_[place] = top_[place - 1];
  }
  top_[place] = {latency_ns, count_};
}

}  // namespace rclrt::timer_study
