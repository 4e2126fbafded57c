// SPDX-License-Identifier: Apache-2.0
// What happens inside the callbacks of a case.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "costs.hpp"
#include "measurement.hpp"

namespace rclrt::bench {

/// Is told of every dispatch and keeps `count` of them, from `open` on. Allocates nothing after
/// construction.
class Observer {
 public:
  explicit Observer(std::size_t count);

  /// Called first in user code, by any worker. `release_ns`: the nominal release, for timers.
  void operator()(std::int64_t latency_ns, std::int64_t release_ns = 0) noexcept;

  /// The warm-up is over. From any thread.
  void open() noexcept { open_.store(true); }
  bool is_open() const noexcept { return open_.load(); }
  /// Whether there was a dispatch during the warm-up.
  bool warm() const noexcept { return warm_.load(); }
  /// Whether there are enough samples.
  bool done() const noexcept { return seen_.load() >= latencies_ns_.size(); }
  /// How many samples there are.
  std::size_t kept() const noexcept;

  /// After the last dispatch: adds the samples, and the costs if all samples came.
  void report(Row& into) const;
  /// Releases on the grid of `period_ns` between the first and the last sample that nobody saw.
  std::uint64_t lost_releases(std::int64_t period_ns) const;

 private:
  std::vector<std::int64_t> latencies_ns_;
  std::vector<std::int64_t> releases_ns_;
  std::atomic<bool> warm_{false};
  std::atomic<bool> open_{false};
  // Each dispatch since `open` has a slot of its own; what is written there is read after the
  // threads joined.
  std::atomic<std::size_t> seen_{0};
  Costs before_;  // from the first slot's dispatch, and the last one's
  Costs after_;
};

}  // namespace rclrt::bench
