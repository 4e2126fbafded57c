// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/hop_accounting.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace rclrt::recorder {

std::vector<HopResult> account_hops(std::span<const LoggedInstance> instances) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::int64_t>> times_ns;
  for (const LoggedInstance& each : instances) {
    if (each.publisher != LoggedInstance::kNobody && each.record.outcome == Outcome::kRan &&
        each.published_ns != 0 && each.published_ns <= each.record.ready_ns) {
      times_ns[{each.publisher, each.record.callback}].push_back(each.record.ready_ns -
                                                                 each.published_ns);
    }
  }
  std::vector<HopResult> result;
  for (auto& [hop, own_ns] : times_ns) {
    result.push_back({hop.first, hop.second, *summarise(std::move(own_ns))});
  }
  return result;
}

}  // namespace rclrt::recorder
