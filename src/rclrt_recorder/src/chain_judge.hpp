// SPDX-License-Identifier: Apache-2.0
// The rule that decides the status of an instance of a chain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <rclrt/model/application.hpp>
#include <rclrt/model/sync_fates.hpp>
#include <set>
#include <span>

#include "rclrt/recorder/chain_accounting.hpp"
#include "rclrt/recorder/host_stall.hpp"
#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

/// The facts about one instance of a chain.
struct ChainFacts {
  std::optional<std::int64_t> completion_ns{};  ///< first end of the chain's last callback for it
  model::SyncFate fate = model::SyncFate::kOther;
  bool newer_completed = false;  ///< whether a newer instance of the chain completed
};

/// Sets everything in `instance` but its number and its release. `deadline_ns`: of the chain,
/// relative. `stalls`: of the chain's CPUs. The run ends at `end_ns`.
void judge(ChainInstance& instance, const ChainFacts& facts, std::int64_t deadline_ns,
           std::int64_t end_ns, const StallTimeline& stalls);

/// Returns what synchronisers did with the messages of a run up to `end_ns`.
model::SyncFates find_fates(const model::Application& application, std::int64_t end_ns,
                            std::span<const InstanceRecord> records);

/// Returns the CPUs of which a stall delays the chain; std::nullopt: any CPU.
std::optional<std::set<int>> cpus_of(const model::Application& application,
                                     const model::Chain& chain);

}  // namespace rclrt::recorder
