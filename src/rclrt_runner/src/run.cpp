// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hosts.hpp"
#include "live_results.hpp"
#include "process.hpp"
#include "processes.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/recorder/host_probe.hpp"
#include "rclrt/recorder/run_accounting.hpp"
#include "spinning.hpp"

namespace rclrt::runner {

namespace {

/// The time between the moment at which all threads exist and the epoch. During this time the
/// executors start their timers, and their threads fall asleep.
constexpr std::int64_t kLeadTime_ns = 200'000'000;

/// The probe beside the executors of this host.
recorder::HostProbeOptions probe_options(const model::Application& application,
                                         const RunOptions& options) {
  std::vector<std::vector<int>> cpus;
  for (const auto& process : processes_here(application, options.hosts)) {
    for (const std::size_t executor : process) {
      cpus.push_back(application.executors[executor].cpus);
    }
  }
  return recorder::probe_beside(cpus);
}

/// Reads the state of the machine beside the run, keeps the times of the run, and collects what the
/// processes measure.
class Surroundings {
 public:
  Surroundings(recorder::RunResults& results, const RunOptions& options)
      : probe_(probe_options(results.application, options)),
        results_(results),
        options_(options),
        live_(results, probe_,
              {.limits = {.keep_all = options.keep_all},
               .duration = options.duration,
               .write = options.write}) {}

  /// Begins. `states` are those of all processes before the run. `more_ns`: time for messages to
  /// other hosts. Returns the epoch.
  std::int64_t begin(std::span<const Part> states, std::int64_t more_ns = 0) {
    probe_.start();
    results_.started_utc = recorder::utc_now();
    steal_before_ = recorder::read_steal_ms();
    const std::int64_t epoch_ns = realtime::monotonic_now_ns() + kLeadTime_ns + more_ns;
    results_.window = {epoch_ns, epoch_ns + options_.duration.count()};
    results_.host_stalls = probe_.state();
    results_.kernel_priorities.resize(results_.application.callbacks.size());
    set_state(states);
    live_.begin();
    return epoch_ns;
  }

  /// Takes instances of any host. Thread-safe.
  void add(std::span<const recorder::LoggedInstance> instances) {
    if (options_.hosts.empty()) {
      live_.add(instances);
      return;
    }
    // By clocks of two hosts, a message may come before it was sent: then it took no time, as far
    // as is known.
    std::vector<recorder::LoggedInstance> clipped(instances.begin(), instances.end());
    for (recorder::LoggedInstance& each : clipped) {
      each.published_ns = std::min(each.published_ns, each.record.ready_ns);
    }
    live_.add(clipped);
  }

  void stop() { probe_.stop(); }

  /// Adds these readings and the states of the processes and hosts after the run to the results.
  void finish(std::span<const Part> states, recorder::HostTable hosts) {
    recorder::RunResults results = results_;  // the other is used until the thread has ended
    results.hosts = std::move(hosts);
    for (const Part& state : states) {
      results.window.end_ns = std::min(results.window.end_ns, state.ended_ns);
    }
    if (results.window.end_ns < results_.window.end_ns) {
      results.end = recorder::RunEnd::kInterrupted;
    }
    add_counts(results, states);
    live_.finish(results);
    recorder::judge_over_hosts(results);
    results.host_stalls.lost = probe_.state().lost;
    results_ = std::move(results);
    set_state(states);
    for (const Part& state : states) {
      results_.context.records_dropped += state.records_dropped;
      results_.context.foreign_messages += state.foreign_messages;
    }
    results_.context.records_dropped += live_.dropped();
  }

 private:
  /// Sets what is known before the run.
  void set_state(std::span<const Part> states) {
    std::vector<recorder::RealtimeState> realtime;
    results_.threads.clear();
    for (const Part& state : states) {
      realtime.insert(realtime.end(), state.realtime.begin(), state.realtime.end());
      results_.threads.insert(results_.threads.end(), state.threads.begin(), state.threads.end());
      for (std::size_t i = 0; i < state.kernel_priorities.size(); ++i) {
        if (state.kernel_priorities[i]) {
          results_.kernel_priorities[i] = state.kernel_priorities[i];
        }
      }
    }
    results_.context = recorder::read_context(realtime, steal_before_);
    results_.context.rmw = states.front().rmw;
    results_.context.versions = {
        {"rclrt", RCLRT_VERSION}, {"rcl", RCL_VERSION}, {"rmw", RMW_VERSION}};
    results_.context.memory_locked = std::ranges::all_of(states, &Part::memory_locked);
  }

  static void add_counts(recorder::RunResults& results, std::span<const Part> states) {
    results.callback_counts.resize(results.application.callbacks.size());
    for (const Part& state : states) {
      for (std::size_t i = 0; i < state.counts.size(); ++i) {
        results.callback_counts[i] += state.counts[i];
      }
    }
  }

  recorder::HostProbe probe_;
  std::optional<double> steal_before_;
  recorder::RunResults& results_;
  const RunOptions& options_;
  LiveResults live_;
};

/// The starter of a single process: it begins as soon as it can.
class OwnStarter final : public Starter {
 public:
  OwnStarter(Surroundings& surroundings, StopRequests& requests)
      : surroundings_(surroundings), requests_(requests) {}

  std::optional<std::int64_t> begin(const Part& state) override {
    return surroundings_.begin(std::span(&state, 1));
  }
  bool goes_on() override { return !requests_.arrived(std::chrono::milliseconds(0)); }
  void add(std::span<const recorder::LoggedInstance> instances) override {
    surroundings_.add(instances);
  }
  void finish(Part state) override {
    surroundings_.stop();
    states_.push_back(std::move(state));
  }
  void fail(const std::string& /*cause*/) override {}  // it is thrown

  /// Returns the state that was handed over; empty if the run was stopped before it began.
  std::vector<Part> take() { return std::move(states_); }

 private:
  Surroundings& surroundings_;
  StopRequests& requests_;
  std::vector<Part> states_;
};

std::vector<Part> run_alone(const model::Application& application, const RunOptions& options,
                            std::span<const char* const> arguments, Surroundings& surroundings,
                            StopRequests& requests) {
  std::vector<std::size_t> all(application.executors.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  OwnStarter starter(surroundings, requests);
  run_process(application, all, options, arguments, starter);
  return starter.take();
}

/// Ends the threads of other hosts before what they use ends.
struct Disconnection {
  RemoteHosts& hosts;
  ~Disconnection() { hosts.disconnect(); }
};

/// Runs the processes of this host, if there are any, together with other hosts.
std::vector<Part> run_together(std::optional<Processes>& processes, RemoteHosts& hosts,
                               const RunOptions& options, Surroundings& surroundings,
                               StopRequests& requests) {
  std::vector<Part> prepared;
  if (processes) {
    prepared = processes->wait_until_prepared();
    hosts.rethrow();
    if (prepared.empty()) {
      return {};
    }
  }
  if (!hosts.empty()) {
    std::vector<Part> others = hosts.wait_until_prepared(requests);
    if (others.empty()) {
      return {};
    }
    std::ranges::move(others, std::back_inserter(prepared));
  }
  realtime::apply_scheduling(0, starting());
  const std::int64_t epoch_ns = surroundings.begin(prepared, 2 * hosts.round_trip_ns());
  hosts.begin(epoch_ns);
  if (!hosts.empty() && epoch_ns - realtime::monotonic_now_ns() < kLeadTime_ns / 2) {
    throw std::runtime_error("the start of the run could not be sent to the other hosts in time");
  }
  if (processes) {
    processes->begin(epoch_ns);
  }
  realtime::apply_scheduling(0, {});
  std::vector<Part> states;
  if (processes) {
    states = processes->wait(
        [&](std::span<const recorder::LoggedInstance> instances) { surroundings.add(instances); });
    if (states.empty()) {
      return {};
    }
  }
  if (!hosts.empty()) {
    std::vector<Part> others = hosts.wait(epoch_ns + options.duration.count(), requests);
    if (others.empty()) {
      return {};
    }
    std::ranges::move(others, std::back_inserter(states));
  }
  surroundings.stop();
  return states;
}

}  // namespace

bool run(recorder::RunResults& results, const RunOptions& options,
         std::span<const char* const> arguments, StopRequests& requests) {
  const model::Application application = results.application;
  results.executor = options.executor;
  results.executor_label = label_of(options.executor);
  // The processes are forked before any thread exists. (LTTng starts some threads when it is
  // loaded; these exist already.)
  std::optional<Processes> processes;
  RemoteHosts hosts(application, options);
  if (!hosts.greet(requests)) {
    return false;
  }
  const auto here = processes_here(application, options.hosts);
  if (here.size() > 1 || (!options.hosts.empty() && !here.empty())) {
    processes.emplace(application, here, options, arguments, requests);
  }
  Surroundings surroundings(results, options);
  const Disconnection disconnection{hosts};
  hosts.start(
      [&](std::span<const recorder::LoggedInstance> instances) { surroundings.add(instances); });
  const std::vector<Part> states =
      processes || !hosts.empty()
          ? run_together(processes, hosts, options, surroundings, requests)
          : run_alone(application, options, arguments, surroundings, requests);
  if (states.empty()) {
    return false;
  }
  const auto ended_ns = std::ranges::min(states, {}, &Part::ended_ns).ended_ns;
  if (ended_ns <= results.window.start_ns) {
    hosts.rethrow();
    return false;
  }
  surroundings.finish(states, hosts.results());
  return true;
}

}  // namespace rclrt::runner
