// SPDX-License-Identifier: Apache-2.0
#include "origin_ring.hpp"

#include <algorithm>

namespace rclrt_robot {

std::optional<OriginRing::Instance> OriginRing::find(std::int64_t at_ns) const noexcept
    RCLRT_NONBLOCKING {
  const std::uint64_t newest = ring_.newest();
  const std::uint64_t places = std::min<std::uint64_t>(newest, kPlaces);
  // An instance that runs so long that later ones passed over its place: its ticket is older than
  // the tickets of the other places.
  std::optional<Instance> old;
  std::uint64_t old_ticket = 0;
  for (std::uint64_t i = 0; i < places; ++i) {
    const auto found = ring_.read(newest - i);
    if (!found || at_ns < found->start.start_ns || found->end.end_ns < at_ns) {
      continue;
    }
    if (found->ticket == newest - i) {
      return found->start;
    }
    if (found->ticket >= old_ticket) {
      old = found->start;
      old_ticket = found->ticket;
    }
  }
  return old;
}

}  // namespace rclrt_robot
