// SPDX-License-Identifier: Apache-2.0
// When the releases of an event are: the same in every run and every simulation.
#pragma once

#include <cstdint>
#include <string_view>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"

namespace rclrt::model {

/// The nominal releases of an event, one after the other, from the beginning of the run. The first
/// is at its offset, or uniform in one longest interval where none is stated; each next one follows
/// after a time that is uniform from the shortest to the longest interval. The draws depend on the
/// event's seed and on the callback's id only, and are the same on every machine.
class RCLRT_MODEL_EXPORT EventTimes {
 public:
  /// Throws std::invalid_argument unless 0 < min_interval <= max_interval. `id`: of the callback.
  EventTimes(const Event& event, std::string_view id);

  /// Returns the next release, and goes on to the one after it. Saturates at Nanoseconds::max().
  Nanoseconds next();

 private:
  std::int64_t draw(std::int64_t low, std::int64_t high);

  std::int64_t min_ns_;
  std::int64_t max_ns_;
  std::int64_t next_ns_ = 0;
  std::uint64_t state_;
};

}  // namespace rclrt::model
