// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/hop_accounting.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace rclrt::recorder {

std::optional<std::int64_t> hop_ns(const LoggedInstance& instance) {
  if (instance.publisher == LoggedInstance::kNobody || instance.record.outcome != Outcome::kRan ||
      instance.published_ns == 0 || instance.published_ns > instance.record.ready_ns) {
    return std::nullopt;
  }
  return instance.record.ready_ns - instance.published_ns;
}

std::vector<HopResult> account_hops(std::span<const LoggedInstance> instances,
                                    const HostTable& hosts) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::int64_t>> times_ns;
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> errors_ns;
  for (const LoggedInstance& each : instances) {
    if (const auto time_ns = hop_ns(each)) {
      const std::pair<std::size_t, std::size_t> hop{each.publisher, each.record.callback};
      times_ns[hop].push_back(*time_ns);
      std::int64_t& error_ns = errors_ns[hop];
      error_ns = std::max(error_ns, hosts.error_between_ns(hop.first, each.published_ns, hop.second,
                                                           each.record.ready_ns));
    }
  }
  std::vector<HopResult> result;
  for (auto& [hop, own_ns] : times_ns) {
    result.push_back({hop.first, hop.second, *summarise(std::move(own_ns)), errors_ns[hop]});
  }
  return result;
}

}  // namespace rclrt::recorder
