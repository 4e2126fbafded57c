// SPDX-License-Identifier: Apache-2.0
// Callbacks that exclude each other, as in rclrt_executor's Group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "simulation/processors.hpp"

namespace rclrt::analysis::detail {

class SimulatedGroup {
 public:
  Key ceiling = std::numeric_limits<Key>::min();  ///< key of the most urgent member
  /// For EDF: the shortest relative deadline of the members, kNever without one (the ceiling of
  /// SRP).
  std::int64_t shortest_deadline_ns = kNever;
  bool shared = false;  ///< has more than one member

  /// An instance that requests to enter, or waits for the group.
  struct Member {
    Id instance = kNone;
    int level = 0;
    std::uint64_t order = 0;  ///< in its lane
  };

  /// Enters the group. Returns false if the member is parked until `leave` returns it.
  bool enter(const Member& member) {
    if (reserved_.instance == member.instance) {
      reserved_ = {};
    }
    if (busy_ || (reserved_.instance != kNone && member.level <= reserved_.level)) {
      parked_.insert(std::upper_bound(parked_.begin(), parked_.end(), member, before), member);
      return false;
    }
    busy_ = true;
    return true;
  }

  bool busy() const { return busy_; }

  /// Leaves the group. Returns the instance that may try again, or kNone when there is none.
  Id leave() {
    busy_ = false;
    if (parked_.empty() ||
        (reserved_.instance != kNone && parked_.front().level <= reserved_.level)) {
      return kNone;
    }
    reserved_ = parked_.front();
    parked_.erase(parked_.begin());
    return reserved_.instance;
  }

 private:
  static bool before(const Member& a, const Member& b) {
    return a.level != b.level ? a.level > b.level : a.order < b.order;
  }

  bool busy_ = false;
  Member reserved_;
  std::vector<Member> parked_;  // the most urgent first; each level in order of release
};

}  // namespace rclrt::analysis::detail
