// SPDX-License-Identifier: Apache-2.0
#include "late_samples.hpp"

#include <algorithm>
#include <iterator>

namespace rclrt::latency {

LateSamples::LateSamples(std::size_t capacity) : capacity_(std::max<std::size_t>(capacity, 2)) {}

void LateSamples::add(const Sample& sample) {
  if (sample.late_ns < floor_ns_) {
    return;
  }
  if (samples_.size() == capacity_) {
    raise_floor();
  }
  if (sample.late_ns >= floor_ns_) {
    samples_.push_back(sample);
  }
}

void LateSamples::raise_floor() {
  std::vector<std::int64_t> late;
  late.reserve(samples_.size());
  std::ranges::transform(samples_, std::back_inserter(late), &Sample::late_ns);
  const auto middle = late.begin() + static_cast<std::ptrdiff_t>(late.size() / 2);
  std::nth_element(late.begin(), middle, late.end());
  floor_ns_ = *middle + 1;  // so that at least half of them go, even if many are equal
  std::erase_if(samples_, [this](const Sample& sample) { return sample.late_ns < floor_ns_; });
}

std::vector<Sample> LateSamples::disturbed(const recorder::StallTimeline& stalls) const {
  std::vector<Sample> result;
  std::ranges::copy_if(samples_, std::back_inserter(result), [&](const Sample& sample) {
    return stalls.stalled_ns(sample.due_ns, sample.due_ns + sample.late_ns) > 0;
  });
  return result;
}

}  // namespace rclrt::latency
