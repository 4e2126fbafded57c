// SPDX-License-Identifier: Apache-2.0
// The nominal releases of a chain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <rclrt/model/application.hpp>
#include <rclrt/model/event_times.hpp>

#include "rclrt/recorder/chain_accounting.hpp"

namespace rclrt::recorder {

/// The releases of the timer or event that starts a chain, one after the other.
class ChainReleases {
 public:
  /// `start_ns`: the begin of the run. `found`: the releases of timers are known by the records
  /// only, whatever the application states.
  ChainReleases(const model::Application& application, std::size_t chain, std::int64_t start_ns,
                bool found = false);

  /// Returns whether only the records show the releases: those of a timer that rebases, and all
  /// that are found.
  bool are_observed() const { return observed_; }
  /// Returns the period of the timer; 0 for an event.
  std::int64_t period_ns() const { return period_ns_; }

  /// Returns the next release if it is before `end_ns`; std::nullopt otherwise, and always if the
  /// releases are observed.
  std::optional<ChainRelease> next_before(std::int64_t end_ns);

 private:
  std::int64_t start_ns_;
  std::int64_t period_ns_ = 0;
  std::optional<model::EventTimes> event_;
  bool observed_ = false;
  std::uint64_t instance_ = 0;
  std::int64_t since_start_ns_ = 0;  // of the next release; may be INT64_MAX
};

}  // namespace rclrt::recorder
