// SPDX-License-Identifier: Apache-2.0
// Statuses of callbacks that make no progress while others run again and again.
#include <algorithm>
#include <utility>

#include "monitor.hpp"
#include "status_values.hpp"

namespace rclrt_robot {

namespace {

/// A callback is reported if so many of its releases came since an instance of it ended, and
/// another callback ended so often since the last publication. The counters do not show whether an
/// instance waits or runs.
constexpr std::uint64_t kReleases = 3;

}  // namespace

void Monitor::report_progress(const std::vector<CallbackInfo>& callbacks, std::int64_t now_ns,
                              std::vector<Status>& statuses) {
  std::map<std::string, Progress> now;
  for (const CallbackInfo& each : callbacks) {
    const auto [place, added] = now.try_emplace(to_string(each));
    Progress& all = place->second;
    all.counters.released += each.counters.released;
    all.counters.completed += each.counters.completed;
    all.counters.dropped += each.counters.dropped;
    all.priority = added ? each.priority : std::max(all.priority, each.priority);
    if (each.period.count() > 0 && each.overdue.count() > all.overdue_ns) {
      all.overdue_ns = each.overdue.count();
      all.overdue_periods = static_cast<std::uint64_t>(each.overdue / each.period);
    }
    all.has_limit =
        all.has_limit || (std::max(each.deadline, each.max_age).count() > 0 && !each.stamped_ends);
  }
  std::string most;  // the callback that ended most often since the last publication
  std::uint64_t most_ended = 0;
  for (auto& [name, each] : now) {
    const auto before = progress_.find(name);
    const std::uint64_t overdue_periods = std::exchange(each.overdue_periods, 0);
    each.since_ns = now_ns;
    each.released_before = each.counters.released;
    if (before == progress_.end() || before->second.counters.completed > each.counters.completed ||
        before->second.counters.released > each.counters.released) {
      continue;  // it is new, or another one with this name has replaced it
    }
    const std::uint64_t ended = each.counters.completed - before->second.counters.completed;
    if (ended > most_ended) {
      most = name;
      most_ended = ended;
    }
    if (ended > 0) {
      continue;
    }
    if (before->second.counters.pending() > 0 && each.counters.pending() > 0) {
      each.since_ns = before->second.since_ns;
      each.released_before = before->second.released_before;
    }
    each.since_ns = std::min(each.since_ns, now_ns - each.overdue_ns);
    each.overdue_periods = overdue_periods;
  }
  for (const auto& [name, each] : now) {
    if (!each.has_limit && each.waiting() >= kReleases && most_ended >= kReleases) {
      without_progress_.insert(name);
    }
  }
  for (const std::string& name : without_progress_) {
    Status& status = statuses.emplace_back();
    status.name = "rclrt: " + name + " progress";
    status.hardware_id = hardware_id();
    const auto found = now.find(name);
    if (found == now.end() || found->second.waiting() < kReleases) {
      status.level = Status::OK;
      status.message =
          found == now.end() ? "the executor does not have it any more" : "its instances end";
      continue;
    }
    const Progress& each = found->second;
    status.level = Status::WARN;
    status.message = "no instance has ended for " + milliseconds(now_ns - each.since_ns) +
                     " ms, in which it was due " + std::to_string(each.waiting()) +
                     " times: it waits, or runs for so long";
    status.values.push_back(value("priority", std::to_string(each.priority)));
    status.values.push_back(value("waits_ms", milliseconds(now_ns - each.since_ns)));
    status.values.push_back(value("releases", std::to_string(each.waiting())));
    if (most_ended > 0) {
      status.message += "; most often ended meanwhile: " + most;
      status.values.push_back(value("ended_most_often", most));
      status.values.push_back(value("its_priority", std::to_string(now.at(most).priority)));
      status.values.push_back(value("its_instances", std::to_string(most_ended)));
    }
  }
  // A callback that is gone has its last status now.
  std::erase_if(without_progress_, [&](const std::string& name) { return !now.contains(name); });
  progress_ = std::move(now);
}

}  // namespace rclrt_robot
