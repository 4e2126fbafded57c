// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/trace_export.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rclrt/recorder/results_writer.hpp"
#include "sampled_flows.hpp"

namespace rclrt::recorder {

namespace {

using realtime::PerfettoEvent;
using realtime::PerfettoTrack;
using realtime::PerfettoWriter;

/// Numbers the chain instances of a run from 1: one flow each.
class Flows {
 public:
  explicit Flows(const RunResults& results) : results_(results) {
    std::uint64_t next = 1;
    for (const ChainResult& chain : results.chains) {
      first_.push_back(next);
      next += chain.instances.size();
    }
    end_ = next;
  }

  /// Returns the number after the last one.
  std::uint64_t end() const { return end_; }

  /// Returns std::nullopt for a token of an instance without a release in the window.
  std::optional<std::uint64_t> of(const ChainToken& token) const {
    if (token.chain >= results_.chains.size()) {
      return std::nullopt;
    }
    const auto& instances = results_.chains[token.chain].instances;
    const auto found = std::lower_bound(
        instances.begin(), instances.end(), token.instance,
        [](const ChainInstance& one, std::uint64_t instance) { return one.instance < instance; });
    if (found == instances.end() || found->instance != token.instance) {
      return std::nullopt;
    }
    return first_[token.chain] + static_cast<std::uint64_t>(found - instances.begin());
  }

 private:
  const RunResults& results_;
  std::vector<std::uint64_t> first_;  // by chain
  std::uint64_t end_ = 0;
};

double ms_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) / 1e6;
}

void export_releases(PerfettoWriter& writer, PerfettoTrack track, const Flows& flows,
                     std::uint32_t chain, const RunResults& results) {
  const std::int64_t deadline_ns = results.application.chains[chain].deadline.count();
  for (const ChainInstance& one : results.chains[chain].instances) {
    const auto number = static_cast<std::int64_t>(one.instance);
    const ChainToken token{.chain = chain, .instance = one.instance, .release_ns = one.release_ns};
    PerfettoEvent release{.name = "release", .category = "chain"};
    release.flows.push_back(*flows.of(token));
    release.annotations = {{"instance", number}, {"status", to_string(one.status)}};
    if (const auto response_ns = one.response_ns()) {
      release.annotations.push_back({"response_ms", ms_between(0, *response_ns)});
      if (!results.hosts.hosts.empty()) {
        const std::int64_t error_ns = response_error_ns(results, chain, one);
        release.annotations.push_back({"response_error_ms", ms_between(0, error_ns)});
      }
    }
    writer.instant(track, one.release_ns, release);
    if (one.status == ChainStatus::kUnknown) {
      writer.instant(track, one.release_ns + deadline_ns,
                     {.name = "deadline met or missed: unknown",
                      .category = "chain",
                      .annotations = {{"instance", number}}});
    }
    if (one.missed) {
      writer.instant(track, one.release_ns + deadline_ns,
                     {.name = one.missed_host ? "deadline missed (host stall)" : "deadline missed",
                      .category = "chain",
                      .annotations = {{"instance", number}}});
    }
  }
}

/// Writes the number of instances that are released and not yet completed. A dropped instance
/// counts until a newer one completes, because only then it is known to be lost.
void export_in_flight(PerfettoWriter& writer, PerfettoTrack track,
                      std::span<const ChainInstance> instances) {
  std::map<std::int64_t, int> changes;
  std::optional<std::int64_t> newer_completion_ns;
  for (auto one = instances.rbegin(); one != instances.rend(); ++one) {
    ++changes[one->release_ns];
    if (one->completion_ns) {
      newer_completion_ns =
          std::min(newer_completion_ns.value_or(*one->completion_ns), *one->completion_ns);
      --changes[*one->completion_ns];
    } else if (newer_completion_ns) {
      --changes[std::max(*newer_completion_ns, one->release_ns)];
    }
  }
  int in_flight = 0;
  for (const auto& [time_ns, change] : changes) {
    in_flight += change;
    writer.counter(track, time_ns, in_flight);
  }
}

void export_chains(PerfettoWriter& writer, const RunResults& results, const Flows& flows) {
  const PerfettoTrack group = writer.add_track("Chains");
  for (std::uint32_t chain = 0; chain < results.chains.size(); ++chain) {
    const std::string& id = results.application.chains[chain].id;
    export_releases(writer, writer.add_track(id, group), flows, chain, results);
    export_in_flight(writer, writer.add_counter_track(id + " in flight", "instances", group),
                     results.chains[chain].instances);
  }
  for (std::size_t i = 0; i < results.cause_effect_chains.size(); ++i) {
    const std::string& id = results.application.cause_effect_chains[i].id;
    const PerfettoTrack ages = writer.add_counter_track(id + " data age", "ms", group);
    for (const model::CauseEffectOutput& output : results.cause_effect_chains[i].found.outputs) {
      writer.counter(ages, output.end.count(), ms_between(0, output.age().count()));
    }
  }
}

void export_stalls(PerfettoWriter& writer, const HostStallReport& report) {
  const PerfettoTrack group = writer.add_track("Host stalls");
  std::map<int, PerfettoTrack> tracks;
  for (const HostStall& stall : report.attributable()) {
    auto track = tracks.find(stall.cpu);
    if (track == tracks.end()) {
      const std::string name = "CPU " + std::to_string(stall.cpu);
      track = tracks.emplace(stall.cpu, writer.add_track(name, group)).first;
    }
    const std::int64_t ready_ns = stall.end_ns - stall.waited_ns;
    if (stall.start_ns < ready_ns) {
      writer.begin_slice(track->second, stall.start_ns, {.name = "stall", .category = "host"});
      writer.end_slice(track->second, ready_ns);
    }
    if (ready_ns < stall.end_ns) {
      writer.begin_slice(track->second, ready_ns, {.name = "held back", .category = "kernel"});
      writer.end_slice(track->second, stall.end_ns);
    }
  }
}

/// Distributes the instances of one display track over several Perfetto tracks, because slices on a
/// Perfetto track must not overlap partly. An instance that overlaps with another one goes to a
/// further lane. Lanes with the same name are shown as one track.
class Lanes {
 public:
  Lanes(PerfettoWriter& writer, std::string_view name, PerfettoTrack group)
      : writer_(writer), name_(name), group_(group) {
    lanes_.push_back({writer_.add_track(name_, group_), 0});
  }

  /// Instances come in order of their start.
  PerfettoTrack take(std::int64_t start_ns, std::int64_t end_ns) {
    auto lane = std::find_if(lanes_.begin(), lanes_.end(),
                             [&](const Lane& one) { return one.busy_until_ns <= start_ns; });
    if (lane == lanes_.end()) {
      lane = lanes_.insert(lane, {writer_.add_track(name_, group_), 0});
    }
    lane->busy_until_ns = end_ns;
    return lane->track;
  }

 private:
  struct Lane {
    PerfettoTrack track;
    std::int64_t busy_until_ns;
  };
  PerfettoWriter& writer_;
  std::string_view name_;
  PerfettoTrack group_;
  std::vector<Lane> lanes_;
};

/// An instance, or an uninterrupted part of it, on a CPU.
struct OnCpu {
  CpuPart part;
  const InstanceRecord* record = nullptr;
  const char* what = "ran";  ///< category
  bool migrated = false;     ///< it ran on another CPU before
};

/// Returns the number of the host that ran the instance; 0 for a run on one host.
std::size_t host_of(const RunResults& results, const InstanceRecord& record) {
  return results.hosts.hosts.empty() ? 0 : results.hosts.of_callback[record.callback];
}

/// Returns what is known of the CPUs of all instances, by host, CPU and time. An instance of which
/// only the CPUs at its begin and end are known, and which moved, has an interval of no length on
/// each.
std::vector<OnCpu> on_cpus(const RunResults& results) {
  std::vector<OnCpu> found;
  for (const InstanceRecord& record : results.records) {
    const std::span<const CpuPart> parts = parts_of(record, results.cpu_parts);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      found.push_back({.part = parts[i],
                       .record = &record,
                       .migrated = i > 0 && parts[i].cpu != parts[i - 1].cpu});
    }
    if (!parts.empty() || record.first_cpu == kUnknownCpu || record.last_cpu == kUnknownCpu) {
      continue;
    }
    const std::int64_t end_ns = std::max(record.start_ns, record.end_ns);
    if (record.first_cpu == record.last_cpu) {
      found.push_back({{record.first_cpu, record.start_ns, end_ns}, &record});
    } else {
      found.push_back({{record.first_cpu, record.start_ns, record.start_ns}, &record, "began"});
      found.push_back({{record.last_cpu, end_ns, end_ns}, &record, "ended", true});
    }
  }
  std::ranges::stable_sort(found, {}, [&](const OnCpu& one) {
    return std::tuple(host_of(results, *one.record), one.part.cpu, one.part.start_ns,
                      one.part.end_ns);
  });
  return found;
}

/// Writes a track for each CPU, with the parts of instances that ran there.
void export_cpus(PerfettoWriter& writer, const RunResults& results) {
  const std::vector<OnCpu> found = on_cpus(results);
  if (found.empty()) {
    return;
  }
  const PerfettoTrack group = writer.add_track("CPUs");
  std::string name;
  std::optional<Lanes> lanes;
  std::int32_t cpu = kUnknownCpu;
  std::size_t host = 0;
  for (const OnCpu& one : found) {
    if (one.part.cpu != cpu || host_of(results, *one.record) != host) {
      cpu = one.part.cpu;
      host = host_of(results, *one.record);
      const std::vector<HostTimes>& hosts = results.hosts.hosts;
      name = (hosts.empty() ? "" : hosts[host].name + " ") + "CPU " + std::to_string(cpu);
      lanes.emplace(writer, name, group);
    }
    PerfettoEvent event{.name = results.application.callbacks[one.record->callback].id,
                        .category = one.what};
    event.annotations = {{"instance", static_cast<std::int64_t>(one.record->id)},
                         {"priority", std::int64_t{one.record->level}}};
    if (one.migrated) {
      event.annotations.push_back({"migrated", std::int64_t{1}});
    }
    const PerfettoTrack track = lanes->take(one.part.start_ns, one.part.end_ns);
    if (one.part.start_ns == one.part.end_ns) {
      writer.instant(track, one.part.start_ns, event);
    } else {
      writer.begin_slice(track, one.part.start_ns, event);
      writer.end_slice(track, one.part.end_ns);
    }
  }
}

std::string tokens_text(const RunResults& results, const InstanceRecord& record) {
  std::string text;
  for (const ChainToken& token : record.tokens.all()) {
    if (token.chain < results.application.chains.size()) {
      text += (text.empty() ? "" : " ") + results.application.chains[token.chain].id + ":" +
              std::to_string(token.instance);
    }
  }
  return text;
}

/// Adds the flows of the chains that have the record's callback on them.
void add_flows(PerfettoEvent& event, const RunResults& results, const Flows& flows,
               const InstanceRecord& record) {
  for (const ChainToken& token : record.tokens.all()) {
    const auto flow = flows.of(token);
    if (!flow) {
      continue;
    }
    const auto& callbacks = results.application.chains[token.chain].callbacks;
    if (std::find(callbacks.begin(), callbacks.end(), record.callback) != callbacks.end()) {
      const bool last = callbacks.back() == record.callback && record.outcome == Outcome::kRan;
      (last ? event.ended_flows : event.flows).push_back(*flow);
    }
  }
}

void export_instance(PerfettoWriter& writer, Lanes& lanes, const RunResults& results,
                     const Flows& flows, SampledFlows& sampled, const InstanceRecord& record) {
  const std::int64_t end_ns = std::max(record.start_ns, record.end_ns);
  const std::string tokens = tokens_text(results, record);
  PerfettoEvent slice{.name = results.application.callbacks[record.callback].id,
                      .category = to_string(record.outcome)};
  add_flows(slice, results, flows, record);
  const SampledFlows::OfRun values = sampled.take(record);
  slice.flows.insert(slice.flows.end(), values.stored.begin(), values.stored.end());
  slice.ended_flows.insert(slice.ended_flows.end(), values.read.begin(), values.read.end());
  slice.annotations = {
      {"instances", std::string_view(tokens)},
      {"outcome", to_string(record.outcome)},
      {"priority", std::int64_t{record.level}},
      {"release_ms", ms_between(results.window.start_ns, record.release_ns)},
      {"ready_ms", ms_between(results.window.start_ns, record.ready_ns)},
      {"dispatch_ms", ms_between(record.ready_ns, record.start_ns)},
      {"cpu_ms", ms_between(0, record.cpu_ns)},
      {"preemptions", std::int64_t{record.preemptions}},
  };
  if (const auto migrations = migrations_of(record, results.cpu_parts)) {
    slice.annotations.push_back({"first_cpu", std::int64_t{record.first_cpu}});
    slice.annotations.push_back({"last_cpu", std::int64_t{record.last_cpu}});
    slice.annotations.push_back({"migrations", std::int64_t{*migrations}});
  }
  if (!results.hosts.hosts.empty()) {
    const std::string_view host = results.hosts.hosts[host_of(results, record)].name;
    const std::int64_t error_ns = results.hosts.error_ns(record.callback, record.start_ns);
    slice.annotations.push_back({"host", host});
    slice.annotations.push_back({"clock_error_ms", ms_between(0, error_ns)});
  }
  if (!values.values.empty()) {
    slice.annotations.push_back({"read", std::string_view(values.values)});
  }
  const PerfettoTrack track = lanes.take(record.start_ns, end_ns);
  writer.begin_slice(track, record.start_ns, slice);
  writer.end_slice(track, end_ns);
}

void export_threads(PerfettoWriter& writer, const RunResults& results, const Flows& flows) {
  const PerfettoTrack group = writer.add_track("Threads");
  std::vector<Lanes> lanes;
  lanes.reserve(results.thread_tracks.size());
  for (const std::string& name : results.thread_tracks) {
    lanes.emplace_back(writer, name, group);
  }
  SampledFlows sampled(results, flows.end());
  std::vector<const InstanceRecord*> ordered;
  ordered.reserve(results.records.size());
  for (const InstanceRecord& record : results.records) {
    ordered.push_back(&record);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) {
    return std::pair(a->start_ns, a->end_ns) < std::pair(b->start_ns, b->end_ns);
  });
  for (const InstanceRecord* record : ordered) {
    export_instance(writer, lanes[record->thread_track], results, flows, sampled, *record);
  }
}

/// Writes how far the times of each host may be from the truth, over time.
void export_hosts(PerfettoWriter& writer, const RunResults& results) {
  if (results.hosts.hosts.empty()) {
    return;
  }
  const PerfettoTrack group = writer.add_track("Clocks of hosts");
  for (const HostTimes& host : results.hosts.hosts) {
    if (host.knots.empty()) {
      continue;
    }
    const PerfettoTrack track =
        writer.add_counter_track(host.name + " clock error, either direction", "ms", group);
    for (const HostTimes::Knot& knot : host.knots) {
      writer.counter(track, knot.at_ns, ms_between(0, knot.error_ns));
    }
  }
}

}  // namespace

void export_trace(PerfettoWriter& writer, const RunResults& results) {
  require_consistent(results);
  const Flows flows(results);
  export_chains(writer, results, flows);
  export_hosts(writer, results);
  export_stalls(writer, results.host_stalls);
  export_cpus(writer, results);
  export_threads(writer, results, flows);
}

void write_trace(const std::filesystem::path& directory, const RunResults& results) {
  PerfettoWriter writer(
      directory / kTraceFile,
      realtime::this_perfetto_process(results.application.name + " " + results.executor_label));
  export_trace(writer, results);
  writer.finish();
}

}  // namespace rclrt::recorder
