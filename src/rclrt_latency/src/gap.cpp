// SPDX-License-Identifier: Apache-2.0
#include "gap.hpp"

#include <algorithm>
#include <map>

namespace rclrt::latency {

namespace {

using recorder::HostStall;

/// The silent times of each CPU, by its number.
using Silence = std::map<int, recorder::StallTimeline>;

Silence silence_of(std::span<const Gap> gaps) {
  std::map<int, std::vector<HostStall>> silent;
  for (const Gap& gap : gaps) {
    if (gap.silent_ns > 0) {
      silent[gap.cpu].push_back({.cpu = gap.cpu,
                                 .start_ns = gap.start_ns,
                                 .end_ns = gap.end_ns,
                                 .waited_ns = gap.end_ns - gap.start_ns - gap.silent_ns});
    }
  }
  Silence result;
  for (const auto& [cpu, stalls] : silent) {
    result.emplace(cpu, recorder::StallTimeline(stalls, std::nullopt));
  }
  return result;
}

bool was_silent_everywhere(const Gap& gap, const Silence& silence, int cpus) {
  const auto others = std::count_if(silence.begin(), silence.end(), [&](const auto& entry) {
    return entry.first != gap.cpu &&
           2 * entry.second.stalled_ns(gap.start_ns, gap.end_ns) >= gap.silent_ns;
  });
  return cpus > 1 && others == cpus - 1;
}

}  // namespace

Gap divide(int cpu, const Reading& before, const Reading& after) noexcept {
  const std::int64_t whole_ns = after.wall_ns - before.wall_ns;
  const std::int64_t others_ns =
      std::clamp<std::int64_t>(after.run_delay_ns - before.run_delay_ns, 0, whole_ns);
  const std::int64_t silent_ns =
      std::clamp<std::int64_t>(after.cpu_ns - before.cpu_ns, 0, whole_ns - others_ns);
  return {.cpu = cpu,
          .start_ns = before.wall_ns,
          .end_ns = after.wall_ns,
          .others_ns = others_ns,
          .stolen_ns = whole_ns - others_ns - silent_ns,
          .silent_ns = silent_ns};
}

JudgedGaps judge(std::span<const Gap> gaps, int cpus) {
  const Silence silence = silence_of(gaps);
  JudgedGaps result;
  for (const Gap& gap : gaps) {
    const bool stolen = gap.stolen_ns >= gap.silent_ns;
    if (stolen || was_silent_everywhere(gap, silence, cpus)) {
      result.stalls.push_back({.cpu = gap.cpu,
                               .start_ns = gap.start_ns,
                               .end_ns = gap.end_ns,
                               .waited_ns = gap.others_ns});
    } else {
      result.undecided.push_back(gap);
    }
  }
  std::ranges::sort(result.stalls, {}, &HostStall::start_ns);
  return result;
}

}  // namespace rclrt::latency
