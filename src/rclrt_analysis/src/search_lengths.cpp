// SPDX-License-Identifier: Apache-2.0
#include "search_lengths.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace rclrt::analysis::detail {
namespace {

/// The longest trial: times in a counter-example file are limited to an hour.
constexpr std::int64_t kLongestTrial_ns = std::int64_t{3000} * 1'000'000'000;
constexpr std::int64_t kLeastTrial_ns = 1'000'000;

/// Returns the number of CPUs on which callbacks may run at once. `others`: of executors that state
/// none.
double cpus_of(const model::Application& application, unsigned others) {
  std::set<int> stated;
  bool uses_others = false;
  for (const model::Executor& executor : application.executors) {
    stated.insert(executor.cpus.begin(), executor.cpus.end());
    uses_others = uses_others || executor.cpus.empty();
  }
  const auto count = static_cast<double>(stated.size());
  return uses_others ? std::max(count, static_cast<double>(others)) : count;
}

}  // namespace

TrialLengths::TrialLengths(const model::Application& application, const SearchEffort& effort,
                           std::size_t targets, bool only_full, unsigned cpus)
    : application_(application),
      has_parts_(application.utilisation() < cpus_of(application, cpus)) {
  std::int64_t longest_ns = 0;
  for (const model::Callback& callback : application.callbacks) {
    if (!callback.takes_messages()) {
      longest_ns = std::max(longest_ns, model::period(callback).count());
    }
  }
  full_ns_ = affordable_ns(effort.per_trial);
  // At most half of the effort is for the trials that each target begins with, of which there are
  // three or four.
  const std::uint64_t of_each = effort.instances / (8 * (targets + 1));
  const auto set_long = [&] {
    long_ns_ = has_parts_ && !only_full
                   ? std::clamp(affordable_ns(of_each), kLeastTrial_ns, full_ns_)
                   : full_ns_;
  };
  if (!has_parts_ || application.utilisation() >= 1.0) {
    full_ns_ = std::max(full_ns_, kLeastTrial_ns);
    set_long();
    return;
  }
  // Below a load of 1 everything repeats once the bursts are done.
  const std::int64_t hyperperiod_ns = std::min(application.hyperperiod().count(), kLongestTrial_ns);
  const double needed =
      3.0 * static_cast<double>(hyperperiod_ns) + static_cast<double>(longest_ns) + bursts_ns();
  shows_starvation_ = needed <= static_cast<double>(full_ns_);
  full_ns_ = std::max(static_cast<std::int64_t>(std::min(needed, static_cast<double>(full_ns_))),
                      kLeastTrial_ns);
  set_long();
}

/// Returns the time in which this many instances are released; 0 if none ever is.
std::int64_t TrialLengths::affordable_ns(std::uint64_t instances) const {
  double per_ns = 0;
  for (const double rate : application_.rates()) {
    per_ns += rate / 1e9;
  }
  return per_ns > 0 ? static_cast<std::int64_t>(std::min(static_cast<double>(instances) / per_ns,
                                                         static_cast<double>(kLongestTrial_ns)))
                    : 0;
}

/// Returns how long one CPU may need for the bursts of all events, besides the other work.
double TrialLengths::bursts_ns() const {
  double releases = 0;
  double longest_jitter = 0;
  double work = 0;
  for (const model::Callback& callback : application_.callbacks) {
    work += static_cast<double>((callback.wcet + callback.waits).count());
    const auto* const event = std::get_if<model::Event>(&callback.trigger);
    if (event != nullptr && event->period.count() > 0 && event->jitter >= event->period) {
      releases += static_cast<double>(event->jitter / event->period);
      longest_jitter = std::max(longest_jitter, static_cast<double>(event->jitter.count()));
    }
  }
  return releases * work / (1 - application_.utilisation()) + longest_jitter;
}

}  // namespace rclrt::analysis::detail
