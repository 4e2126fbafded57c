// SPDX-License-Identifier: Apache-2.0
#include "measurement.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "interval_log.hpp"
#include "live_line.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/process.hpp"
#include "smi_count.hpp"
#include "wake_up_thread.hpp"

namespace rclrt::latency {

namespace {

using realtime::Policy;
using realtime::Scheduling;

constexpr std::int64_t kLookNs = 100'000'000;  // how often samples are collected
constexpr std::int64_t kLeadNs = 20'000'000;   // from here to the first wake-up

Scheduling scheduling_of(Policy policy, const Settings& settings) {
  Scheduling scheduling{.policy = policy};
  if (policy == Policy::kFifo || policy == Policy::kRoundRobin) {
    scheduling.priority = settings.priority;
  }
  if (policy == Policy::kDeadline) {
    scheduling.reservation = {.runtime = settings.interval / 5,
                              .deadline = settings.interval,
                              .period = settings.interval};
  }
  return scheduling;
}

void require_permitted(const Scheduling& scheduling) {
  if (const auto problem = realtime::why_refused(scheduling)) {
    const Scheduling most = realtime::most_urgent_permitted();
    const std::string lower =
        most.policy == Policy::kFifo ? "--priority " + std::to_string(most.priority) + ", " : "";
    throw NotPermitted(*problem + "\n  or measure what is permitted: " + lower + "--policy other");
  }
}

/// One policy, one round.
class Round {
 public:
  Round(const Settings& settings, const BreakPoint* break_point, Result& result, Series& series)
      : settings_(settings),
        result_(result),
        series_(series),
        late_(series.threads.size()),
        watch_(settings.stalls, result.cpus, settings.threshold()) {
    watch_.start();
    const std::int64_t first_ns = realtime::monotonic_now_ns() + kLeadNs;
    end_ns_ = first_ns + settings.duration.count() / settings.rounds;
    for (const ThreadSeries& thread : series.threads) {
      Scheduling scheduling = series.scheduling;
      const std::string name = std::string(option_of(scheduling.policy)) + " " +
                               (thread.cpu ? "cpu" + std::to_string(*thread.cpu)
                                           : "thread" + std::to_string(threads_.size()));
      if (thread.cpu) {
        scheduling.cpus = {*thread.cpu};
      }
      threads_.push_back(
          std::make_unique<WakeUpThread>(WakeUpOptions{.name = name,
                                                       .scheduling = scheduling,
                                                       .first_ns = first_ns,
                                                       .interval_ns = settings.interval.count(),
                                                       .loops = settings.loops},
                                         stop_all_, break_point));
    }
  }

  /// Collects until the round is over.
  void collect(const realtime::StopFlag& interrupt, IntervalLog* log, LiveLine& live) {
    std::int64_t second_ns = realtime::monotonic_now_ns() + realtime::kNanosecondsPerSecond;
    if (log != nullptr) {
      log->begin_round();
    }
    while (!over() && !interrupt.wait_until(next_look_ns())) {
      take_samples();
      if (realtime::monotonic_now_ns() >= second_ns) {
        second_ns += realtime::kNanosecondsPerSecond;
        write_log(log);
        live.show(series_, threads_);
      }
    }
    for (const auto& thread : threads_) {
      thread->stop();
    }
    take_samples();
    write_log(log);
    result_.interrupted = interrupt.stop_requested();
  }

  /// Adds the results of the round, including the stalls.
  void account() {
    const StallFindings findings = watch_.finish();
    result_.stalls_valid = result_.stalls_valid && findings.valid;
    result_.stalls_reason = findings.reason;
    result_.stalls_lost += findings.lost;
    if (findings.watched) {
      result_.watched = std::min(result_.watched.value_or(1.0), *findings.watched);
    }
    if (settings_.stalls == StallMethod::kProbe && findings.valid) {
      for (const recorder::HostStall& stall : findings.stalls) {
        if (stall.waited_ns >= settings_.threshold().count()) {
          result_.held_back.add(stall.waited_ns);
        }
      }
    }
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      account(series_.threads[i], *threads_[i], late_[i], findings);
    }
  }

 private:
  bool over() const {
    const bool all_finished =
        std::ranges::all_of(threads_, [](const auto& thread) { return thread->finished(); });
    const bool time_is_up = settings_.loops == 0 && realtime::monotonic_now_ns() >= end_ns_;
    return all_finished || time_is_up || stop_all_.stop_requested();
  }

  std::int64_t next_look_ns() const {
    const std::int64_t look_ns = realtime::monotonic_now_ns() + kLookNs;
    return settings_.loops == 0 ? std::min(look_ns, end_ns_) : look_ns;
  }

  void take_samples() {
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      Sample sample;
      while (threads_[i]->try_take(sample)) {
        late_[i].add(sample);
      }
    }
  }

  void write_log(IntervalLog* log) {
    if (log != nullptr) {
      for (std::size_t i = 0; i < threads_.size(); ++i) {
        log->write(i, series_, threads_[i]->histogram());
      }
    }
  }

  void account(ThreadSeries& series, const WakeUpThread& thread, const LateSamples& late,
               const StallFindings& findings) {
    const std::optional<std::set<int>> own =
        series.cpu ? std::optional(std::set<int>{*series.cpu}) : std::nullopt;
    const recorder::StallTimeline stalls(
        findings.valid ? std::span(findings.stalls) : std::span<const recorder::HostStall>{}, own);
    series.all.add(thread.histogram());
    for (const Sample& sample : late.disturbed(stalls)) {
      series.disturbed.record(sample.late_ns);
    }
    series.missed += thread.missed();
    series.dropped += thread.dropped();
    series.floor_ns = std::max(series.floor_ns, late.floor_ns());
    for (const recorder::HostStall& stall : findings.stalls) {
      if (stall.host_ns() >= settings_.threshold().count() && (!own || own->contains(stall.cpu))) {
        series.stalls.add(stall.host_ns());
      }
    }
    for (const Gap& gap : findings.undecided) {
      if (!own || own->contains(gap.cpu)) {
        series.undecided.add(gap.unexplained_by_threads_ns());
      }
    }
    if (const auto& sample = thread.broken(); sample && !result_.broken) {
      const std::int64_t end_ns = sample->due_ns + sample->late_ns;
      result_.broken = {.policy = series_.scheduling.policy,
                        .cpu = series.cpu,
                        .sample = *sample,
                        .disturbed = stalls.stalled_ns(sample->due_ns, end_ns) > 0,
                        .dump = {},
                        .dump_error = {}};
    }
  }

  const Settings& settings_;
  Result& result_;
  Series& series_;
  std::vector<LateSamples> late_;
  StallWatch watch_;
  realtime::StopFlag stop_all_;
  std::int64_t end_ns_ = 0;
  std::vector<std::unique_ptr<WakeUpThread>> threads_;
};

Series empty_series(Policy policy, const Settings& settings, const std::vector<int>& cpus) {
  Series series{.scheduling = scheduling_of(policy, settings), .threads = {}};
  for (const int cpu : cpus) {
    ThreadSeries& thread = series.threads.emplace_back();
    if (policy != Policy::kDeadline) {
      thread.cpu = cpu;
    }
  }
  return series;
}

void run_rounds(const Settings& settings, const BreakPoint* break_point, Result& result,
                const realtime::StopFlag& interrupt) {
  std::optional<IntervalLog> log;
  if (!settings.histogram_log.empty()) {
    log.emplace(settings.histogram_log);
  }
  LiveLine live(settings.live);
  const auto smis_before = read_smi_count(result.cpus);
  for (int round = 0; round < settings.rounds; ++round) {
    for (Series& series : result.series) {
      if (result.broken || result.interrupted) {
        break;
      }
      Round one(settings, break_point, result, series);
      one.collect(interrupt, log ? &*log : nullptr, live);
      one.account();
    }
  }
  if (const auto smis_after = read_smi_count(result.cpus); smis_before && smis_after) {
    result.smis = (*smis_after - *smis_before) & 0xFFFF'FFFFU;  // the counter has 32 bits
  }
  if (log) {
    log->commit();
  }
  if (result.held_back.count != 0) {
    const auto limit = realtime::realtime_limit();
    result.notes.push_back(
        "The kernel held real-time threads back " + std::to_string(result.held_back.count) +
        " times, at most " + std::to_string(result.held_back.largest_ns / 1000) +
        " us: " + (limit ? "they may have " + *limit : "a thread above the probe ran") + ".");
  }
}

}  // namespace

void StallCount::add(std::int64_t duration_ns) {
  ++count;
  largest_ns = std::max(largest_ns, duration_ns);
  total_ns += duration_ns;
}

Result measure(const Settings& settings, const realtime::StopFlag& interrupt) {
  Result result;
  result.cpus = settings.cpus.empty() ? realtime::allowed_cpus() : settings.cpus;
  realtime::require_allowed_cpus(result.cpus);
  for (const Policy policy : settings.policies) {
    require_permitted(scheduling_of(policy, settings));
    result.series.push_back(empty_series(policy, settings, result.cpus));
  }
  realtime::ProcessOptions options;
  if (!settings.keep_cpus_awake) {
    options.cpu_wake_up.reset();
  }
  const realtime::PreparedProcess process = realtime::prepare_process(options);
  result.notes = process.problems();

  if (!settings.break_above) {
    run_rounds(settings, nullptr, result, interrupt);
    return result;
  }
  realtime::FlightRecorder recorder(
      {.directory = settings.dump_directory, .name = "rclrt-latency"});
  {
    realtime::TracerOptions tracer_options;
    tracer_options.clock = realtime::TickClock(realtime::TickClock::Source::kMonotonic);
    realtime::Tracer tracer({recorder}, tracer_options);
    const BreakPoint break_point{settings.break_above->count(), tracer, recorder};
    run_rounds(settings, &break_point, result, interrupt);
  }  // writes the dump
  if (result.broken) {
    const realtime::FlightRecorderStatistics statistics = recorder.statistics();
    result.broken->dump = statistics.last_file;
    result.broken->dump_error = statistics.last_error;
  }
  return result;
}

}  // namespace rclrt::latency
