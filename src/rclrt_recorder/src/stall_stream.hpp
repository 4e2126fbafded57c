// SPDX-License-Identifier: Apache-2.0
// The stalls of the host while the run goes on, in bounded memory.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <rclrt/model/application.hpp>
#include <span>
#include <vector>

#include "chain_judge.hpp"
#include "rclrt/recorder/host_probe.hpp"
#include "rclrt/recorder/host_stall.hpp"

namespace rclrt::recorder {

/// Keeps the latest stalls, and the number and sum of the others.
class StallStream {
 public:
  /// `application` must outlive this object.
  explicit StallStream(const model::Application& application) : application_(application) {}

  /// Takes over chains that were added to the application, and executors that changed.
  void grow() { timelines_.clear(); }

  /// Takes stalls; keeps the latest `most`.
  void add(std::span<const HostStall> stalls, std::size_t most,
           std::chrono::nanoseconds threshold) {
    if (stalls.empty()) {
      return;
    }
    stalls_.insert(stalls_.end(), stalls.begin(), stalls.end());
    if (stalls_.size() > most) {
      const auto last = stalls_.begin() + static_cast<std::ptrdiff_t>(stalls_.size() - most);
      for (auto each = stalls_.begin(); each != last; ++each) {
        left_out_stalls_.add(each->host_ns(), threshold);
        left_out_waits_.add(each->waited_ns, threshold);
      }
      stalls_.erase(stalls_.begin(), last);
    }
    timelines_.clear();
  }

  /// Returns the stalls of the CPUs of a chain. `are_hosts`: whether the host caused them.
  const StallTimeline& of_chain(std::size_t chain, bool are_hosts) {
    if (timelines_.empty()) {
      const std::span<const HostStall> known =
          are_hosts ? std::span<const HostStall>(stalls_) : std::span<const HostStall>();
      for (const model::Chain& each : application_.chains) {
        timelines_.emplace_back(known, cpus_of(application_, each));
      }
    }
    return timelines_[chain];
  }

  /// Sets the stalls in `report`.
  void report(HostStallReport& report) const {
    report.stalls = stalls_;
    std::ranges::sort(report.stalls, {}, &HostStall::start_ns);
    report.left_out_stalls = left_out_stalls_;
    report.left_out_waits = left_out_waits_;
  }

 private:
  const model::Application& application_;
  std::vector<HostStall> stalls_;
  LongTimes left_out_stalls_;
  LongTimes left_out_waits_;
  std::vector<StallTimeline> timelines_;  // by chain; empty: to be made
};

}  // namespace rclrt::recorder
