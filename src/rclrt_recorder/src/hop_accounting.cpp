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

namespace {

/// Returns whether a message from another host seems to be received before it was sent, by no more
/// than the error. Beyond the error the instance took a later message than the one that made it
/// ready.
bool is_early_between_hosts(const LoggedInstance& instance, const HostTable& hosts) {
  const InstanceRecord& record = instance.record;
  if (hosts.hosts.empty() || instance.publisher == LoggedInstance::kNobody ||
      record.outcome != Outcome::kRan || instance.published_ns <= record.ready_ns ||
      hosts.of_callback[instance.publisher] == hosts.of_callback[record.callback]) {
    return false;
  }
  return instance.published_ns - record.ready_ns <=
         hosts.error_between_ns(instance.publisher, instance.published_ns, record.callback,
                                record.ready_ns);
}

}  // namespace

std::vector<HopResult> account_hops(std::span<const LoggedInstance> instances,
                                    const HostTable& hosts) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::int64_t>> times_ns;
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> errors_ns;
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> early;
  for (const LoggedInstance& each : instances) {
    const bool is_early = is_early_between_hosts(each, hosts);
    if (const auto time_ns = is_early ? std::optional<std::int64_t>(0) : hop_ns(each)) {
      const std::pair<std::size_t, std::size_t> hop{each.publisher, each.record.callback};
      times_ns[hop].push_back(*time_ns);
      early[hop] += is_early ? 1 : 0;
      std::int64_t& error_ns = errors_ns[hop];
      error_ns = std::max(error_ns, hosts.error_between_ns(hop.first, each.published_ns, hop.second,
                                                           each.record.ready_ns));
    }
  }
  std::vector<HopResult> result;
  for (auto& [hop, own_ns] : times_ns) {
    result.push_back(
        {hop.first, hop.second, *summarise(std::move(own_ns)), errors_ns[hop], early[hop]});
  }
  return result;
}

}  // namespace rclrt::recorder
