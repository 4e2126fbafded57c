// SPDX-License-Identifier: Apache-2.0
// How long the simulations of a search of schedules are.
#pragma once

#include <cstdint>

#include "rclrt/analysis/counter_example.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

/// The lengths of the trials of a search. Keeps a reference to the application.
class TrialLengths {
 public:
  /// `targets`: how many chains and cause-effect chains are searched. `only_full`: each trial has
  /// the full length, because a callback may never run. `cpus`: of executors that state none.
  TrialLengths(const model::Application& application, const SearchEffort& effort,
               std::size_t targets, bool only_full, unsigned cpus);

  /// Returns three hyperperiods and the time that bursts of events take, or less if that is more
  /// than one trial's instances.
  std::int64_t full_ns() const { return full_ns_; }

  /// Returns the length of trials of which there are some for each target: at most full_ns(), and
  /// the same if only that is wanted and at a load of all CPUs or more, where a backlog may need
  /// long to become a miss.
  std::int64_t long_ns() const { return long_ns_; }

  /// Returns whether parts of a schedule show what the whole one does: the load is below that of
  /// all CPUs.
  bool has_parts() const { return has_parts_; }

  /// Returns whether full_ns() is longer than any backlog of bursts.
  bool shows_starvation() const { return shows_starvation_; }

 private:
  double bursts_ns() const;
  std::int64_t affordable_ns(std::uint64_t instances) const;

  const model::Application& application_;
  std::int64_t full_ns_ = 0;
  std::int64_t long_ns_ = 0;
  bool has_parts_;
  bool shows_starvation_ = true;
};

}  // namespace rclrt::analysis::detail
