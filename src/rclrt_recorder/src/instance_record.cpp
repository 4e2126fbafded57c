// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/instance_record.hpp"

#include <cstddef>

namespace rclrt::recorder {

std::span<const CpuPart> parts_of(const InstanceRecord& record, std::span<const CpuPart> all) {
  if (record.part_count > all.size() || record.first_part > all.size() - record.part_count) {
    return {};
  }
  return all.subspan(record.first_part, record.part_count);
}

std::optional<std::uint32_t> migrations_of(const InstanceRecord& record,
                                           std::span<const CpuPart> all) {
  if (record.first_cpu == kUnknownCpu || record.last_cpu == kUnknownCpu) {
    return std::nullopt;
  }
  const std::span<const CpuPart> parts = parts_of(record, all);
  if (parts.empty()) {
    return record.first_cpu == record.last_cpu ? 0 : 1;
  }
  std::uint32_t migrations = 0;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    migrations += parts[i].cpu == parts[i - 1].cpu ? 0 : 1;
  }
  return migrations;
}

}  // namespace rclrt::recorder
