// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace rclrt::realtime {

namespace {

/// Returns the rank of the nearest-rank percentile, between 1 and `count`.
std::uint64_t rank_of(double percent, std::uint64_t count) noexcept RCLRT_NONBLOCKING {
  const double exact = percent / 100.0 * static_cast<double>(count);
  // 99.9 % of 1000 is 999, although the product of the doubles is a little more.
  const auto below = static_cast<std::uint64_t>(exact * (1.0 - 1e-12));
  return std::clamp<std::uint64_t>(below + 1, 1, count);
}

}  // namespace

Histogram::Histogram(const HistogramRange& range)
    : buckets_(range), counts_(std::make_unique<std::atomic<std::uint64_t>[]>(buckets_.size())) {}

Histogram::Histogram(const Histogram& other) : Histogram(other.buckets_.range()) { add(other); }

Histogram::Histogram(Histogram&& other) noexcept
    : buckets_(other.buckets_),
      counts_(std::move(other.counts_)),
      below_range_(other.below_range()),
      above_range_(other.above_range()) {}

// Every access to a count is relaxed: the counts are independent, and they order nothing.

Histogram& Histogram::operator=(Histogram&& other) noexcept {
  buckets_ = other.buckets_;
  counts_ = std::move(other.counts_);
  below_range_.store(other.below_range(), std::memory_order_relaxed);
  above_range_.store(other.above_range(), std::memory_order_relaxed);
  return *this;
}

void Histogram::add(const Histogram& other) noexcept RCLRT_NONBLOCKING {
  for (std::size_t i = 0; i < other.buckets_.size(); ++i) {
    if (const std::uint64_t samples = other.count_in(i); samples != 0) {
      // The smallest value: the last bucket may reach beyond the range.
      record(other.buckets_.lowest_in(i), samples);
    }
  }
  below_range_.fetch_add(other.below_range(), std::memory_order_relaxed);
  above_range_.fetch_add(other.above_range(), std::memory_order_relaxed);
}

void Histogram::subtract(const Histogram& earlier) {
  if (buckets_.range() != earlier.buckets_.range()) {
    throw std::invalid_argument(
        "Histogram::subtract: the two histograms have different ranges; expected an earlier copy "
        "of this histogram");
  }
  const auto take = [](std::atomic<std::uint64_t>& from, std::uint64_t samples) {
    const std::uint64_t now = from.load(std::memory_order_relaxed);
    if (samples > now) {
      throw std::invalid_argument(
          "Histogram::subtract: the other histogram has more samples; expected an earlier copy of "
          "this histogram");
    }
    from.store(now - samples, std::memory_order_relaxed);
  };
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    take(counts_[i], earlier.count_in(i));
  }
  take(below_range_, earlier.below_range());
  take(above_range_, earlier.above_range());
}

void Histogram::reset() noexcept RCLRT_NONBLOCKING {
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    counts_[i].store(0, std::memory_order_relaxed);
  }
  below_range_.store(0, std::memory_order_relaxed);
  above_range_.store(0, std::memory_order_relaxed);
}

std::uint64_t Histogram::count() const noexcept RCLRT_NONBLOCKING {
  std::uint64_t samples = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    samples += count_in(i);
  }
  return samples;
}

std::uint64_t Histogram::below_range() const noexcept RCLRT_NONBLOCKING {
  return below_range_.load(std::memory_order_relaxed);
}

std::uint64_t Histogram::above_range() const noexcept RCLRT_NONBLOCKING {
  return above_range_.load(std::memory_order_relaxed);
}

std::int64_t Histogram::min() const noexcept RCLRT_NONBLOCKING {
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (count_in(i) != 0) {
      return buckets_.lowest_in(i);
    }
  }
  return 0;
}

std::int64_t Histogram::max() const noexcept RCLRT_NONBLOCKING {
  for (std::size_t i = buckets_.size(); i-- > 0;) {
    if (count_in(i) != 0) {
      return buckets_.highest_in(i);
    }
  }
  return 0;
}

std::int64_t Histogram::percentile(double percent) const noexcept RCLRT_NONBLOCKING {
  const std::uint64_t samples = count();
  if (samples == 0) {
    return 0;
  }
  if (!(percent > 0.0)) {
    return min();
  }
  if (percent >= 100.0) {
    return max();
  }
  std::uint64_t left = rank_of(percent, samples);
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const std::uint64_t here = count_in(i);
    if (here >= left) {
      return buckets_.highest_in(i);
    }
    left -= here;
  }
  return max();  // not reached: counts only grow
}

double Histogram::mean() const noexcept RCLRT_NONBLOCKING {
  double sum = 0.0;
  double samples = 0.0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (const std::uint64_t here = count_in(i); here != 0) {
      const auto weight = static_cast<double>(here);
      sum += weight * static_cast<double>(buckets_.middle_of(i));
      samples += weight;
    }
  }
  return samples == 0.0 ? 0.0 : sum / samples;
}

double Histogram::standard_deviation() const noexcept RCLRT_NONBLOCKING {
  const double center = mean();
  double sum_of_squares = 0.0;
  double samples = 0.0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (const std::uint64_t here = count_in(i); here != 0) {
      const auto weight = static_cast<double>(here);
      const double distance = static_cast<double>(buckets_.middle_of(i)) - center;
      sum_of_squares += weight * distance * distance;
      samples += weight;
    }
  }
  return samples == 0.0 ? 0.0 : RCLRT_TRUST("pure arithmetic", std::sqrt(sum_of_squares / samples));
}

}  // namespace rclrt::realtime
