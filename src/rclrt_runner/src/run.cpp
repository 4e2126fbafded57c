// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

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

recorder::HostProbeOptions probe_options(const model::Application& application) {
  std::vector<std::vector<int>> cpus;
  for (const model::Executor& executor : application.executors) {
    cpus.push_back(executor.cpus);
  }
  return recorder::probe_beside(cpus);
}

/// Reads the state of the machine beside the run, and keeps the times of the run.
class Surroundings {
 public:
  Surroundings(const model::Application& application, recorder::RunResults& results)
      : probe_(probe_options(application)), results_(results) {}

  /// Begins. Returns the epoch.
  std::int64_t begin(std::chrono::nanoseconds duration) {
    probe_.start();
    results_.started_utc = recorder::utc_now();
    steal_before_ = recorder::read_steal_ms();
    const std::int64_t epoch_ns = realtime::monotonic_now_ns() + kLeadTime_ns;
    results_.window = {epoch_ns, epoch_ns + duration.count()};
    return epoch_ns;
  }

  void stop() { probe_.stop(); }

  /// Adds these readings and the measurements of the processes to the results.
  void add(std::vector<Part> parts) {
    std::vector<recorder::RealtimeState> realtime;
    for (const Part& part : parts) {
      realtime.insert(realtime.end(), part.realtime.begin(), part.realtime.end());
    }
    results_.context = recorder::read_context(realtime, steal_before_);
    results_.context.rmw = parts.front().rmw;
    results_.context.versions = {
        {"rclrt", RCLRT_VERSION}, {"rcl", RCL_VERSION}, {"rmw", RMW_VERSION}};
    results_.context.memory_locked =
        std::ranges::all_of(parts, [](const Part& part) { return part.memory_locked; });
    results_.host_stalls = probe_.report();
    std::vector<recorder::LoggedInstance> instances;
    for (Part& part : parts) {
      join(part, instances);
    }
    account(results_, std::move(instances), realtime::allowed_cpus().size());
  }

 private:
  void join(Part& part, std::vector<recorder::LoggedInstance>& instances) {
    results_.context.records_dropped += part.records_dropped;
    results_.context.foreign_messages += part.foreign_messages;
    results_.callback_counts.resize(part.counts.size());
    results_.kernel_priorities.resize(part.counts.size());
    for (std::size_t i = 0; i < part.counts.size(); ++i) {
      results_.callback_counts[i] += part.counts[i];
      if (part.kernel_priorities[i]) {
        results_.kernel_priorities[i] = part.kernel_priorities[i];
      }
    }
    std::ranges::move(part.threads, std::back_inserter(results_.threads));
    if (instances.empty()) {
      instances = std::move(part.instances);
    } else {
      instances.insert(instances.end(), part.instances.begin(), part.instances.end());
    }
    part.instances = {};
  }

  recorder::HostProbe probe_;
  std::optional<double> steal_before_;
  recorder::RunResults& results_;
};

/// The starter of a single process: it begins as soon as it can.
class OwnStarter final : public Starter {
 public:
  OwnStarter(Surroundings& surroundings, std::chrono::nanoseconds duration)
      : surroundings_(surroundings), duration_(duration) {}

  std::optional<std::int64_t> begin() override { return surroundings_.begin(duration_); }
  bool goes_on() override { return true; }

  void finish(Part part) override {
    surroundings_.stop();
    parts_.emplace().push_back(std::move(part));
  }

  void fail(const std::string& /*cause*/) override {}  // it is thrown

  /// Returns the part that was handed over; std::nullopt if there was none.
  std::optional<std::vector<Part>> take() { return std::move(parts_); }

 private:
  Surroundings& surroundings_;
  const std::chrono::nanoseconds duration_;
  std::optional<std::vector<Part>> parts_;
};

std::optional<std::vector<Part>> run_alone(const model::Application& application,
                                           const RunOptions& options,
                                           std::span<const char* const> arguments,
                                           Surroundings& surroundings) {
  std::vector<std::size_t> all(application.executors.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  OwnStarter starter(surroundings, options.duration);
  run_process(application, all, options, arguments, starter);
  return starter.take();
}

std::optional<std::vector<Part>> run_together(Processes& processes, const RunOptions& options,
                                              Surroundings& surroundings) {
  if (!processes.wait_until_prepared()) {
    return std::nullopt;
  }
  realtime::apply_scheduling(0, starting());
  processes.begin(surroundings.begin(options.duration));
  realtime::apply_scheduling(0, {});
  auto parts = processes.wait();
  surroundings.stop();
  return parts;
}

}  // namespace

std::optional<recorder::RunResults> run(const model::Application& application,
                                        const RunOptions& options,
                                        std::span<const char* const> arguments) {
  recorder::RunResults results;
  results.application = application;
  results.executor = options.executor;
  results.executor_label = label_of(options.executor);
  // The processes are forked before any thread exists. (LTTng starts some threads when it is
  // loaded; these exist already.)
  std::optional<Processes> processes;
  if (application.processes().size() > 1) {
    processes.emplace(application, options, arguments);
  }
  Surroundings surroundings(application, results);
  auto parts = processes ? run_together(*processes, options, surroundings)
                         : run_alone(application, options, arguments, surroundings);
  if (!parts) {
    return std::nullopt;
  }
  surroundings.add(std::move(*parts));
  return results;
}

}  // namespace rclrt::runner
