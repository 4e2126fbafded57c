// SPDX-License-Identifier: Apache-2.0
// Whether an application may need more of a CPU than the kernel leaves to real-time threads.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "throttling.hpp"

namespace rclrt::analysis {

namespace {

using model::Application;
using model::Callback;

constexpr double kPeriod = 1;  // s: the kernel's default
constexpr double kMostReleases = 100'000;
constexpr double kRounding = 1e-9;

/// Returns the CPU time, in seconds, of all instances that are released in [0, `seconds`) if one is
/// released at 0.
double released_work(const Demand& demand, double seconds) {
  const double releases = std::ceil((seconds + demand.jitter) * demand.rate - kRounding);
  return demand.execution * (std::max(releases, 1.0) + demand.late_instances);
}

/// Returns 0 and the times, up to `last`, of the releases that follow a common release.
std::vector<double> release_times(std::span<const Demand> demands, double last) {
  std::set<std::pair<double, double>> sources;
  for (const Demand& each : demands) {
    if (each.rate > 0) {
      sources.emplace(each.rate, each.jitter);
    }
  }
  std::vector<double> result{0};
  for (const auto& [rate, jitter] : sources) {
    const auto count = static_cast<int>(std::floor((last + jitter) * rate));
    for (int number = 1; number <= count; ++number) {
      if (const double time = number / rate - jitter; time > 0) {
        result.push_back(time);
      }
    }
  }
  std::ranges::sort(result);
  result.erase(std::ranges::unique(result).begin(), result.end());
  return result;
}

bool is_source(const Callback& callback) { return !callback.takes_messages(); }

/// The callbacks of an application, and which of them may release which by their messages.
class Releases {
 public:
  explicit Releases(const Application& application)
      : application_(application), direct_(application.callbacks.size()) {
    std::map<std::string, std::vector<std::size_t>> takers;  // by topic
    for (std::size_t i = 0; i < direct_.size(); ++i) {
      for (std::string& topic : inputs(application.callbacks[i])) {
        takers[std::move(topic)].push_back(i);
      }
    }
    for (std::size_t i = 0; i < direct_.size(); ++i) {
      for (const std::string& topic : application.callbacks[i].publishes) {
        for (const std::size_t next : takers[topic]) {
          direct_[next].push_back(i);
        }
      }
    }
    for (const model::Chain& chain : application.chains) {  // also through services
      for (std::size_t i = 1; i < chain.callbacks.size(); ++i) {
        direct_[chain.callbacks[i]].push_back(chain.callbacks[i - 1]);
      }
    }
  }

  const std::vector<int>& cpus(std::size_t callback) const {
    return application_.executors[application_.executor_of(callback)].cpus;
  }

  /// The timers and events that may release a callback, directly or through other callbacks.
  struct Sources {
    int count{};        ///< without the callback itself
    bool other_cpus{};  ///< a callback in between runs on other CPUs
    double jitter{};    ///< s: the longest of the events
  };

  Sources sources(std::size_t callback) const {
    std::vector<bool> seen(direct_.size());
    std::vector<std::size_t> left{callback};
    Sources result{.count = 0, .other_cpus = false, .jitter = jitter(callback)};
    while (!left.empty()) {
      const std::size_t at = left.back();
      left.pop_back();
      for (const std::size_t before : direct_[at]) {
        if (!seen[before]) {
          seen[before] = true;
          left.push_back(before);
          result.count += is_source(application_.callbacks[before]) ? 1 : 0;
          result.other_cpus = result.other_cpus || cpus(before) != cpus(callback);
          result.jitter = std::max(result.jitter, jitter(before));
        }
      }
    }
    return result;
  }

 private:
  double jitter(std::size_t callback) const {
    const auto* const event = std::get_if<model::Event>(&application_.callbacks[callback].trigger);
    return event != nullptr ? static_cast<double>(event->jitter.count()) / 1e9 : 0;
  }

  const Application& application_;
  std::vector<std::vector<std::size_t>> direct_;
};

/// Returns how many releases of the callback may come late, together with the next ones, because
/// callbacks on other CPUs delay them. If every chain keeps its deadline, they are delayed by no
/// more than the longest deadline of the callback's chains (of all chains if it is on none).
int most_delayed(const Application& application, std::size_t callback, double rate) {
  model::Nanoseconds own{};
  model::Nanoseconds any{};
  for (const model::Chain& chain : application.chains) {
    any = std::max(any, chain.deadline);
    if (std::ranges::find(chain.callbacks, callback) != chain.callbacks.end()) {
      own = std::max(own, chain.deadline);
    }
  }
  const double longest = static_cast<double>((own.count() > 0 ? own : any).count()) / 1e9;
  const double releases = std::ceil(longest * rate - kRounding);
  constexpr double kMost = 1e9;  // fits an int
  return static_cast<int>(std::clamp(releases, 1.0, kMost));
}

/// The executors that may take time of one CPU.
struct Users {
  std::set<std::size_t> callbacks;   ///< their callbacks may run on it
  std::set<std::size_t> schedulers;  ///< only their scheduler threads may run on it

  auto operator<=>(const Users&) const = default;
};

/// Returns the users of each CPU, each combination once. An executor that states no CPU has one for
/// itself.
std::set<Users> users_of_cpus(const Application& application) {
  std::map<int, Users> by_cpu;
  std::set<Users> result;
  for (std::size_t i = 0; i < application.executors.size(); ++i) {
    for (const int cpu : application.executors[i].cpus) {
      by_cpu[cpu].callbacks.insert(i);
    }
    if (application.executors[i].cpus.empty()) {
      result.insert({{i}, {}});
    }
  }
  for (std::size_t i = 0; i < application.executors.size(); ++i) {
    for (const int cpu : application.executors[i].scheduler_cpus) {
      if (!by_cpu[cpu].callbacks.contains(i)) {
        by_cpu[cpu].schedulers.insert(i);
      }
    }
  }
  for (auto& [cpu, users] : by_cpu) {
    result.insert(std::move(users));
  }
  return result;
}

/// Returns the demands on each CPU. Demands that differ only in their execution time are added to
/// one demand. Those of an executor with several CPUs count on each of them. On such a CPU,
/// instances that were under way on another one may follow a time at which it was idle.
std::vector<std::vector<Demand>> demands_of(const Application& application,
                                            const Machine& machine) {
  const Overheads& overheads = machine.overheads;
  const Ticks each = overheads.dispatch + overheads.scheduler + overheads.polling;
  const Releases releases(application);
  const std::vector<double> rates = application.rates();
  std::vector<Demand> of_callbacks;
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const Callback& callback = application.callbacks[i];
    // While a message is on its way, the CPU may be idle.
    const Ticks hop = is_source(callback) ? 0 : std::max(overheads.near.max, overheads.far.max);
    const double seconds = static_cast<double>(callback.wcet.count() + each + hop) / 1e9;
    const auto [sources, other_cpus, early] = releases.sources(i);
    int late = std::max(sources - 1, 0) + (callback.kind() == model::CallbackKind::kSync ? 1 : 0);
    if (other_cpus || releases.cpus(i).size() > 1) {
      late += most_delayed(application, i, rates[i]);
    }
    const double jitter = early + static_cast<double>(overheads.timer_jitter) / 1e9;
    of_callbacks.push_back(
        {.rate = rates[i], .execution = seconds, .late_instances = late, .jitter = jitter});
  }
  // The scheduler thread handles an instance twice if it has waited for its group.
  const double scheduler = 2 * static_cast<double>(overheads.scheduler) / 1e9;
  std::vector<std::vector<Demand>> result;
  for (const Users& users : users_of_cpus(application)) {
    std::map<std::tuple<double, int, double>, double> found;
    for (std::size_t i = 0; i < of_callbacks.size(); ++i) {
      const std::size_t executor = application.executor_of(i);
      const auto& [rate, seconds, late, jitter] = of_callbacks[i];
      if (users.callbacks.contains(executor)) {
        found[{rate, late, jitter}] += seconds;
      } else if (users.schedulers.contains(executor)) {
        found[{rate, late, jitter}] += scheduler;
      }
    }
    std::vector<Demand>& demands = result.emplace_back();
    for (const auto& [key, seconds] : found) {
      const auto& [rate, late, jitter] = key;
      demands.push_back(
          {.rate = rate, .execution = seconds, .late_instances = late, .jitter = jitter});
    }
  }
  return result;
}

double background_of(const Machine& machine) {
  return static_cast<double>(machine.overheads.background) / 1e6;
}

double load_of(std::span<const Demand> demands) {
  double load = 0;
  for (const Demand& each : demands) {
    load += each.rate * each.execution;
  }
  return load;
}

double mean_load(const std::vector<std::vector<Demand>>& by_cpu, const Machine& machine) {
  double most = 0;
  for (const std::vector<Demand>& demands : by_cpu) {
    most = std::max(most, load_of(demands));
  }
  return most + background_of(machine);
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

}  // namespace

Assumption detail::realtime_assumption(const Machine& machine) {
  return {"realtime-share",
          "real-time threads need no more than " + percent(machine.realtime_share) +
              " of any second of a CPU, and the kernel holds them back only beyond that"};
}

double busiest_second(std::span<const Demand> demands, double background, double limit) {
  const double load = background + load_of(demands);
  if (load >= limit) {
    return demands.empty() ? load : 1.0;
  }
  // The work is at most `once` + `load` * x, so no second that begins later exceeds the limit.
  double once = 0;
  double rate = 0;
  double early = 0;  // releases that jitter adds
  for (const Demand& each : demands) {
    once += each.execution * (1 + each.late_instances + each.jitter * each.rate);
    rate += each.rate;
    early += each.jitter * each.rate;
  }
  const double last = (once + kPeriod * (1 - limit)) / (1 - load);
  if ((last + kPeriod) * rate + early > kMostReleases) {
    return 1.0;
  }
  const auto surplus = [&](double x) {
    double work = 0;
    for (const Demand& each : demands) {
      work += released_work(each, x);
    }
    return work - (1 - background) * x;
  };
  // The surplus h falls except at releases: its least values are right before them.
  const std::vector<double> times = release_times(demands, last + kPeriod);
  std::vector<double> least;
  std::ranges::transform(times, std::back_inserter(least), surplus);
  double most = 0;
  // Minima of the second from `number` on: each is less than all later ones in it.
  std::deque<std::size_t> within;
  std::size_t end = 1;
  for (std::size_t number = 0; number < times.size() && times[number] <= last; ++number) {
    for (; end < times.size() && times[end] <= times[number] + kPeriod; ++end) {
      while (!within.empty() && least[within.back()] >= least[end]) {
        within.pop_back();
      }
      within.push_back(end);
    }
    while (!within.empty() && within.front() <= number) {
      within.pop_front();
    }
    double found = surplus(times[number] + kPeriod);
    if (!within.empty()) {
      found = std::min(found, least[within.front()]);
    }
    most = std::max(most, found + kPeriod);
  }
  return std::min(most / kPeriod, 1.0);
}

double mean_load(const model::Application& application, const Machine& machine) {
  return mean_load(demands_of(application, machine), machine);
}

std::optional<std::string> throttling_condition(const model::Application& application,
                                                const Machine& machine) {
  if (!machine.is_limited()) {
    return std::nullopt;
  }
  const double limit = machine.realtime_share;
  const std::vector<std::vector<Demand>> by_cpu = demands_of(application, machine);
  // A CPU may idle while a callback waits, and have the work of several instances after that.
  const bool waits = std::ranges::any_of(
      application.callbacks, [](const Callback& each) { return each.waits.count() > 0; });
  if (!waits && std::ranges::all_of(by_cpu, [&](const std::vector<Demand>& each) {
        return busiest_second(each, background_of(machine), limit) <= limit;
      })) {
    return std::nullopt;
  }
  return "the kernel does not hold back real-time threads that may take more than " +
         percent(limit) + " of a second of a CPU, as these may with " +
         percent(mean_load(by_cpu, machine)) +
         " in the mean (sysctl -w kernel.sched_rt_runtime_us=-1; from Linux 6.12 on the fair "
         "server, too)";
}

}  // namespace rclrt::analysis
