// SPDX-License-Identifier: Apache-2.0
#include "observer.hpp"

#include <algorithm>

namespace rclrt::bench {

Observer::Observer(std::size_t count) : latencies_ns_(count), releases_ns_(count) {}

void Observer::operator()(std::int64_t latency_ns, std::int64_t release_ns) noexcept {
  if (!is_open()) {
    warm_.store(true);
    return;
  }
  const std::size_t slot = seen_.fetch_add(1);
  if (slot >= latencies_ns_.size()) {
    return;
  }
  latencies_ns_[slot] = latency_ns;
  releases_ns_[slot] = release_ns;
  // Read after the time stamp, so it costs the next dispatch only CPU time.
  if (slot == 0) {
    before_ = read_costs();
  }
  if (slot + 1 == latencies_ns_.size()) {
    after_ = read_costs();
  }
}

std::size_t Observer::kept() const noexcept { return std::min(seen_.load(), latencies_ns_.size()); }

void Observer::report(Row& into) const {
  const auto end = latencies_ns_.begin() + static_cast<std::ptrdiff_t>(kept());
  into.latency.append({latencies_ns_.begin(), end});
  if (kept() < latencies_ns_.size() || kept() < 2) {
    return;
  }
  into.dispatches += kept() - 1;
  into.allocations += after_.allocations - before_.allocations;
  into.cpu_ns += after_.cpu_ns - before_.cpu_ns;
  into.traced_calls += after_.system_calls - before_.system_calls;
}

std::uint64_t Observer::lost_releases(std::int64_t period_ns) const {
  if (kept() < 2) {
    return 0;
  }
  const auto end = releases_ns_.begin() + static_cast<std::ptrdiff_t>(kept());
  const auto [first, last] = std::minmax_element(releases_ns_.begin(), end);
  // Two callbacks with releases at the same time may start in either order. So the number of
  // releases in between is at least the number of dispatches that were seen.
  const std::int64_t expected = (*last - *first) / period_ns + 1;
  const auto seen = static_cast<std::int64_t>(kept());
  return static_cast<std::uint64_t>(std::max<std::int64_t>(expected - seen, 0));
}

}  // namespace rclrt::bench
