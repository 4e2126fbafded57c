// SPDX-License-Identifier: Apache-2.0
// Contents of the monitor's statuses.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <functional>

#include "full_name.hpp"
#include "monitor.hpp"
#include "status_values.hpp"

namespace rclrt_robot {

Monitor::Period Monitor::period_of(const std::string& name, const Watched& watched,
                                   std::chrono::nanoseconds interval) const {
  const engine::Counters& now = watched.counters;
  const auto found = before_.find(name);
  Watched none;
  const Watched* before = found == before_.end() ? &none : &found->second;
  if (before->counters.released > now.released || before->counters.completed > now.completed ||
      before->counters.dropped > now.dropped || before->counters.missed > now.missed) {
    before = &none;  // another callback with the same name has replaced it
  }
  Period period;
  period.missed = now.missed - before->counters.missed;
  period.ended =
      now.completed + now.dropped - (before->counters.completed + before->counters.dropped);
  period.unstamped = watched.unstamped - std::min(before->unstamped, watched.unstamped);
  // The callback is stuck: an instance that waited or ran at the last publication still does so. (A
  // timer meanwhile counts skipped releases as dropped, so dropped instances are no sign of
  // progress.)
  period.is_stuck = now.completed == before->counters.completed && before->counters.pending() > 0 &&
                    now.pending() > 0 && watched.limit <= interval && options_.period <= interval;
  return period;
}

std::string Monitor::publisher_name(const Gid& publisher, const std::string& topic) const {
  try {
    const auto all = node_->get_publishers_info_by_topic(topic);
    const auto found = std::ranges::find_if(
        all, [&](const auto& each) { return each.endpoint_gid() == publisher; });
    // Some middlewares use different identifiers for publishers and for their messages.
    if (found != all.end() || all.size() == 1) {
      const rclcpp::TopicEndpointInfo& info = found != all.end() ? *found : all.front();
      return full_name(info.node_namespace(), info.node_name());
    }
  } catch (const std::exception& error) {  // the misses are reported in any case
    RCLCPP_DEBUG(rclcpp::get_logger("rclrt"), "no publishers of %s: %s", topic.c_str(),
                 error.what());
  }
  return "an unknown publisher";
}

/// Returns the causes of the lateness and the time of each, the longest first. The time of a cause
/// is the part beyond the least time that the cause has ever taken. If these parts do not explain
/// the lateness, it is the whole time.
std::vector<std::pair<std::string, std::int64_t>> Monitor::in_the_way(
    const Misses& misses, const std::string& topic) const {
  using Cause = std::pair<std::string, std::int64_t>;
  std::vector<Cause> causes(misses.in_the_way_ns.begin(), misses.in_the_way_ns.end());
  causes.emplace_back("unexplained", misses.unexplained_ns);
  const std::size_t known = causes.size();
  const auto add_parts = [&](std::int64_t TimeBefore::* part) {
    for (const auto& [publisher, time] : misses.before_publication) {
      if (time.*part > 0) {
        causes.emplace_back(publisher_name(publisher, topic) + " before it published", time.*part);
      }
    }
    causes.emplace_back("the middleware", misses.in_middleware.*part);
    causes.emplace_back("the sampled data before the release", misses.before_release.*part);
    causes.emplace_back("its own execution", misses.itself.*part);
  };
  add_parts(&TimeBefore::beyond_ns);
  if (std::ranges::max(causes, {}, &Cause::second).second < misses.late_ns / 2) {
    causes.resize(known);
    add_parts(&TimeBefore::time_ns);
  }
  std::erase_if(causes, [](const Cause& each) { return each.second <= 0; });
  std::ranges::stable_sort(causes, std::ranges::greater(), &Cause::second);
  return causes;
}

/// Appends ", the worst 3.210 ms late; most in the way: /planner timer 0, 2.900 ms in all".
void Monitor::report_misses(const std::string& name, const Watched& watched, bool any_missed,
                            Status& status, std::string& text) const {
  const auto found = misses_.find(name.substr(0, kNameSize - 1));
  if (found == misses_.end()) {
    return;
  }
  const Misses& misses = found->second;
  if (misses.worst_late_ns > 0) {
    text += any_missed ? ", the worst " : "; at the edge of this time one was ";
    text += milliseconds(misses.worst_late_ns) + " ms late";
    status.values.push_back(value("worst_late_ms", milliseconds(misses.worst_late_ns)));
  }
  if (const auto causes = in_the_way(misses, watched.topic); !causes.empty()) {
    const auto& [what, time_ns] = causes.front();
    text += "; most in the way: " + what + ", " + milliseconds(time_ns) + " ms in all";
    status.values.push_back(value("most_in_the_way", what));
    status.values.push_back(value("in_the_way_ms", milliseconds(time_ns)));
  }
  status.values.push_back(value("unexplained_ms", milliseconds(misses.unexplained_ns)));
}

/// Returns the status of a callback with a text such as "2 of 100 missed, the worst 3.210 ms late;
/// most in the way: /planner timer 0, 2.900 ms in all".
Monitor::Status Monitor::status_of(const std::string& name, const Watched& watched,
                                   std::chrono::nanoseconds interval) const {
  const Period period = period_of(name, watched, interval);
  Status status;
  status.name = "rclrt: " + name;
  status.hardware_id = hardware_id();
  const bool is_to_warn = period.missed > 0 || period.unstamped > 0;
  status.level = period.is_stuck ? Status::ERROR : is_to_warn ? Status::WARN : Status::OK;
  std::string text =
      std::to_string(period.missed) + " of " + std::to_string(period.ended) + " missed";
  if (period.is_stuck) {
    text = "nothing has ended for " + milliseconds(interval.count()) + " ms, although " +
           std::to_string(watched.counters.pending()) + " wait or run";
  }
  report_misses(name, watched, period.missed > 0, status, text);
  if (period.unstamped > 0) {
    text += "; " + std::to_string(period.unstamped) + " without a usable stamp";
  }
  status.message = text;
  status.values.push_back(value("priority", std::to_string(watched.priority)));
  status.values.push_back(value("deadline_ms", milliseconds(watched.limit.count())));
  status.values.push_back(value("limit_of", watched.is_age ? "age" : "response"));
  if (watched.responses && watched.responses->count() > 0) {
    for (const auto& [key, percent] :
         {std::pair("p50_ms", 50.0), {"p99_ms", 99.0}, {"max_ms", 100.0}}) {
      status.values.push_back(
          value(key, milliseconds(watched.responses->percentile(percent) * 1'000)));
    }
  }
  if (watched.is_age) {
    status.values.push_back(value("unstamped", std::to_string(watched.unstamped)));
    status.values.push_back(value("from_publication", std::to_string(watched.from_publication)));
  }
  for (const auto& [key, count] : {std::pair("released", watched.counters.released),
                                   {"completed", watched.counters.completed},
                                   {"dropped", watched.counters.dropped},
                                   {"missed", watched.counters.missed}}) {
    status.values.push_back(value(key, std::to_string(count)));
  }
  return status;
}

/// Appends statuses such as "priority 0: every worker waits, 2 instances queued".
void Monitor::report_stalls(std::vector<Status>& statuses) {
  std::map<std::string, engine::Stall> now;
  for (engine::Stall& stall : executor_->engine().stalls()) {
    std::string name =
        stall.cause == engine::Stall::Cause::kGroup ? stall.waiting.front() : stall.workers;
    stalled_.insert(name);
    now.emplace(std::move(name), std::move(stall));
  }
  for (const std::string& name : stalled_) {
    Status& status = statuses.emplace_back();
    status.name = "rclrt: " + name;
    status.hardware_id = hardware_id();
    const auto found = now.find(name);
    if (found == now.end()) {
      status.level = Status::OK;
      status.message = name + ": no callback is queued while all workers wait";
      continue;
    }
    const engine::Stall& stall = found->second;
    status.level = Status::ERROR;
    status.message = summary(stall);
    for (const std::string& each : stall.waiting) {
      status.values.push_back(value("waiting", each));
    }
    for (const std::string& each : stall.queued) {
      status.values.push_back(value("queued", each));
    }
    status.values.push_back(value("instances", std::to_string(stall.instances)));
    status.values.push_back(value("help", stall.advice));
  }
}

Monitor::Status Monitor::status_of_process(const std::vector<CallbackInfo>& callbacks,
                                           double cpu_percent) const {
  const engine::Executor& engine = executor_->engine();
  Status status;
  status.name = "rclrt: process " + hardware_id() + " " + std::to_string(getpid());
  status.hardware_id = hardware_id();
  const bool is_refused = engine.options().realtime != engine::Realtime::kOff && !engine.realtime();
  status.level = is_refused ? Status::WARN : Status::OK;
  status.message = engine.realtime() ? "real time" : "normal scheduling";
  if (is_refused) {
    status.message += ": SCHED_FIFO is not permitted, `rclrt doctor` names the fix";
  }
  const auto with_deadline = std::ranges::count_if(callbacks, [](const CallbackInfo& each) {
    return each.deadline.count() > 0 || each.max_age.count() > 0;
  });
  if (const auto unmatched = executor_->unmatched(true); !unmatched.empty()) {
    status.level = Status::WARN;
    status.message += "; " + unmatched.front();
    if (unmatched.size() > 1) {
      status.message += ", and " + std::to_string(unmatched.size() - 1) + " more";
    }
    for (const std::string& each : unmatched) {
      status.values.push_back(value("unmatched", each));
    }
  }
  // relaxed: statistics only
  const std::uint64_t without_blame = without_blame_.load(std::memory_order_relaxed);
  std::array<char, 40> cpu{};
  std::snprintf(cpu.data(), cpu.size(), "%.1f", cpu_percent);
  status.values.push_back(value("period_ms", std::to_string(options_.period.count())));
  status.values.push_back(value("cpu_percent", cpu.data()));
  status.values.push_back(value("callbacks", std::to_string(callbacks.size())));
  status.values.push_back(value("with_deadline", std::to_string(with_deadline)));
  status.values.push_back(value("misses_without_blame", std::to_string(without_blame)));
  return status;
}

}  // namespace rclrt_robot
