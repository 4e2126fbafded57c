// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/time_distribution.hpp"

#include <algorithm>
#include <functional>

namespace rclrt::recorder {

namespace {

/// The counters that are allocated together: those of one power of two.
constexpr std::size_t kBlock = 1024;

}  // namespace

TimeDistribution::TimeDistribution()
    : layout_({.lowest = 1, .highest = kLongest_ns, .significant_digits = 3}),
      counts_((layout_.size() + kBlock - 1) / kBlock) {}

void TimeDistribution::add(std::int64_t time_ns) {
  const std::size_t index = layout_.index_of(std::clamp<std::int64_t>(time_ns, 0, kLongest_ns));
  std::vector<std::uint64_t>& block = counts_[index / kBlock];
  if (block.empty()) {
    block.resize(kBlock);
  }
  ++block[index % kBlock];
  best_ns_ = count_ == 0 ? time_ns : std::min(best_ns_, time_ns);
  worst_ns_ = count_ == 0 ? time_ns : std::max(worst_ns_, time_ns);
  sum_ns_ += static_cast<long double>(time_ns);
  ++count_;
}

void TimeDistribution::add(const TimeDistribution& other) {
  if (other.count_ == 0) {
    return;
  }
  for (std::size_t block = 0; block < counts_.size(); ++block) {
    if (!other.counts_[block].empty()) {
      counts_[block].resize(kBlock);
      std::ranges::transform(counts_[block], other.counts_[block], counts_[block].begin(),
                             std::plus());
    }
  }
  best_ns_ = count_ == 0 ? other.best_ns_ : std::min(best_ns_, other.best_ns_);
  worst_ns_ = count_ == 0 ? other.worst_ns_ : std::max(worst_ns_, other.worst_ns_);
  sum_ns_ += other.sum_ns_;
  count_ += other.count_;
}

std::optional<Summary> TimeDistribution::summary() const {
  if (count_ == 0) {
    return std::nullopt;
  }
  return Summary{.best_ns = best_ns_,
                 .mean_ns = static_cast<double>(sum_ns_ / static_cast<long double>(count_)),
                 .p50_ns = percentile_ns(50),
                 .p99_ns = percentile_ns(99),
                 .worst_ns = worst_ns_,
                 .count = count_};
}

std::vector<TimeDistribution::Bucket> TimeDistribution::buckets() const {
  std::vector<Bucket> result;
  for (std::size_t block = 0; block < counts_.size(); ++block) {
    for (std::size_t i = 0; i < counts_[block].size(); ++i) {
      if (counts_[block][i] > 0) {
        const std::size_t index = block * kBlock + i;
        result.push_back({layout_.lowest_in(index), layout_.highest_in(index), counts_[block][i]});
      }
    }
  }
  return result;
}

std::size_t TimeDistribution::counters() const {
  std::size_t result = 0;
  for (const auto& block : counts_) {
    result += block.size();
  }
  return result;
}

std::int64_t TimeDistribution::percentile_ns(unsigned percent) const {
  const std::uint64_t rank = count_ / 100 * percent + (count_ % 100 * percent + 99) / 100;
  std::uint64_t before = 0;
  for (const Bucket& bucket : buckets()) {
    before += bucket.count;
    if (before >= rank) {
      return std::clamp(bucket.highest_ns, best_ns_, worst_ns_);
    }
  }
  return worst_ns_;
}

}  // namespace rclrt::recorder
