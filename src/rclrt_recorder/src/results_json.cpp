// SPDX-License-Identifier: Apache-2.0
// The shape of results.json is that of schemas/results.schema.json.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <rclrt/model/services.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>

#include "rclrt/recorder/results_writer.hpp"
#include "results_json_parts.hpp"

namespace rclrt::recorder {

namespace {

constexpr int kFormatVersion = 1;

Json jitter_json(const std::optional<Summary>& summary) {
  return summary ? Json(to_ms(summary->jitter_ns())) : Json(nullptr);
}

/// Returns the times in which the machine did not run the probes, without the times they waited.
Json host_stalls_json(const HostStallReport& report) {
  LongTimes stalls = report.valid ? report.left_out_stalls : LongTimes{};
  for (const HostStall& stall : report.attributable()) {
    stalls.add(stall.host_ns(), report.threshold);
  }
  return {{"count", stalls.count + (report.valid ? report.lost : 0)},
          {"total_ms", to_ms(stalls.total_ns)},
          {"worst_ms", to_ms(stalls.worst_ns)},
          {"threshold_ms", to_ms(report.threshold)},
          {"valid", report.valid}};
}

/// Returns the times in which the probes were ready and the kernel gave them no CPU.
Json held_back_json(const HostStallReport& report) {
  LongTimes waits = report.valid ? report.left_out_waits : LongTimes{};
  for (const HostStall& stall : report.attributable()) {
    waits.add(stall.waited_ns, report.threshold);
  }
  return {{"count", waits.count},
          {"total_ms", to_ms(waits.total_ns)},
          {"worst_ms", to_ms(waits.worst_ns)},
          {"limit", report.limit.empty() ? Json(nullptr) : Json(report.limit)}};
}

Json context_json(const RunResults& results) {
  const RunContext& context = results.context;
  Json versions = Json::object();
  for (const auto& [name, version] : context.versions) {
    versions[name] = version;
  }
  return {{"kernel", context.machine.kernel},
          {"cpus", context.machine.cpus},
          {"cpu_model", context.machine.cpu_model},
          {"preempt_rt", context.machine.preempt_rt},
          {"realtime", context.realtime},
          {"realtime_reason", context.realtime_reason},
          {"memory_locked", context.memory_locked},
          {"rmw", context.rmw},
          {"ros_distro", context.ros_distro},
          {"versions", versions},
          {"steal_ms", context.steal_ms},
          {"host_stalls", host_stalls_json(results.host_stalls)},
          {"held_back", held_back_json(results.host_stalls)},
          {"records_dropped", context.records_dropped},
          {"foreign_messages", context.foreign_messages}};
}

Json event_json(const model::Event& event) {
  return {{"min_interval_ms", to_ms(event.min_interval)},
          {"max_interval_ms", to_ms(event.max_interval)},
          {"period_ms", to_ms(event.period)},
          {"jitter_ms", to_ms(event.jitter)}};
}

Json chain_json(const RunResults& results, std::size_t index) {
  const model::Application& application = results.application;
  const model::Chain& chain = application.chains[index];
  const ChainResult& result = results.chains[index];
  Json callbacks = Json::array();
  for (const std::size_t callback : chain.callbacks) {
    callbacks.push_back(application.callbacks[callback].id);
  }
  Json normalised_worst = nullptr;
  if (result.response) {
    const double ratio = static_cast<double>(result.response->worst_ns) /
                         static_cast<double>(chain.deadline.count());
    normalised_worst = std::round(ratio * 1e6) / 1e6;
  }
  Json json = {{"id", chain.id},
               {"priority", chain.priority},
               {"period_ms", to_ms(application.period(chain))},
               {"deadline_ms", to_ms(chain.deadline)},
               {"callbacks", callbacks},
               {"released", result.released},
               {"completed", result.completed},
               {"dropped", result.dropped},
               {"pending", result.pending},
               {"unmatched", result.unmatched},
               {"missed", result.missed},
               {"missed_host", result.missed_host},
               {"response_ms", times_json(result.response)},
               {"normalised_worst", normalised_worst},
               {"jitter_ms", jitter_json(result.response)}};
  if (!results.hosts.hosts.empty()) {
    std::int64_t error_ns = 0;
    for (const ChainInstance& one : result.instances) {
      error_ns = std::max(error_ns, one.completion_ns ? response_error_ns(results, index, one) : 0);
    }
    json["unknown"] = result.unknown;
    json["error_ms"] = to_ms(error_ns);
  }
  const model::Callback& first = application.callbacks[chain.callbacks.front()];
  if (const auto* event = std::get_if<model::Event>(&first.trigger)) {
    json["event"] = event_json(*event);
  }
  return json;
}

Json limit_json(const std::optional<std::chrono::nanoseconds>& limit) {
  return limit ? Json(to_ms(*limit)) : Json(nullptr);
}

/// Returns where the time of an output went, in the terms of the bounds.
Json way_json(const RunResults& results, const model::CauseEffectChain& chain,
              const model::CauseEffectWay& way) {
  Json terms = Json::array();
  const auto add = [&](const char* kind, std::size_t segment, std::chrono::nanoseconds time) {
    const model::Chain& own = results.application.chains[chain.segments[segment].chain];
    const std::size_t entry = own.callbacks[chain.segments[segment].entry];
    terms.push_back({{"kind", kind},
                     {"chain", own.id},
                     {"callback", results.application.callbacks[entry].id},
                     {"instance", way.stages[segment].instance},
                     {"time_ms", to_ms(time)}});
  };
  std::chrono::nanoseconds last = way.since;
  for (std::size_t i = 0; i < way.stages.size(); ++i) {
    const model::CauseEffectStage& stage = way.stages[i];
    if (i > 0 || stage.begin > last) {
      add(i == 0 ? "source" : "sampling", i, stage.begin - last);
    }
    const bool logical = results.application.chains[chain.segments[i].chain].logical_execution;
    add(logical ? "logical" : "response", i, stage.end - stage.begin);
    last = stage.end;
  }
  return {{"end_ms", to_ms(last.count() - results.window.start_ns)},
          {"time_ms", to_ms(way.length())},
          {"terms", terms}};
}

Json cause_effect_json(const RunResults& results, std::size_t index) {
  const model::CauseEffectChain& chain = results.application.cause_effect_chains[index];
  const CauseEffectResult& result = results.cause_effect_chains[index];
  Json segments = Json::array();
  for (const model::Segment& segment : chain.segments) {
    segments.push_back(results.application.chains[segment.chain].id);
  }
  Json json = {{"id", chain.id},
               {"segments", segments},
               {"max_reaction_ms", limit_json(chain.max_reaction)},
               {"max_age_ms", limit_json(chain.max_age)},
               {"inputs", result.found.inputs},
               {"distinct", result.found.distinct},
               {"outputs", result.outputs},
               {"initial", result.found.initial},
               {"missed_reaction", result.missed_reaction},
               {"missed_age", result.missed_age},
               {"reaction_ms", times_json(result.reaction)},
               {"age_ms", times_json(result.age)}};
  if (!results.hosts.hosts.empty()) {
    json["unknown_reaction"] = result.unknown_reaction;
    json["unknown_age"] = result.unknown_age;
    json["error_ms"] = to_ms(result.error_ns);
  }
  if (result.longest.reaction) {
    json["worst_reaction"] = way_json(results, chain, *result.longest.reaction);
  }
  if (result.longest.age) {
    json["worst_age"] = way_json(results, chain, *result.longest.age);
  }
  return json;
}

Json callback_json(const RunResults& results, std::size_t index) {
  const model::Callback& callback = results.application.callbacks[index];
  const CallbackCounts& counts = results.callback_counts[index];
  const CallbackResult& result = results.callbacks[index];
  const std::optional<int> kernel_priority = results.kernel_priorities[index];
  const auto other_kind = results.other_kinds.find(index);
  Json json = {{"id", callback.id},
               {"node", results.application.nodes[callback.node].name},
               {"kind", other_kind != results.other_kinds.end() ? other_kind->second
                                                                : model::trigger_name(callback)},
               {"priority", results.application.effective_priority(index)},
               {"kernel_priority", kernel_priority ? Json(*kernel_priority) : Json(nullptr)},
               {"released", counts.released},
               {"completed", counts.completed},
               {"dropped", counts.dropped},
               {"missed", counts.missed},
               {"response_ms", times_json(result.response)},
               {"dispatch_ms", times_json(result.dispatch)},
               {"execution_ms", times_json(result.execution)},
               {"jitter_ms", jitter_json(result.response)},
               {"preemptions", result.preemptions}};
  if (result.migrations) {
    json["migrations"] = *result.migrations;
  }
  if (!results.hosts.hosts.empty()) {
    json["error_ms"] = to_ms(result.error_ns);
  }
  if (callback.deadline) {
    json["deadline_ms"] = to_ms(callback.deadline->count());
  }
  if (const auto age = results.max_ages.find(index); age != results.max_ages.end()) {
    json["max_age_ms"] = to_ms(age->second.count());
  }
  return json;
}

Json miss_json(const RunResults& results, const ChainMiss& miss) {
  Json culprits = Json::array();
  for (const ChainCulprit& one : miss.culprits) {
    const InstanceRecord& record = results.records[one.record];
    culprits.push_back({{"callback", results.application.callbacks[record.callback].id},
                        {"instance", record.id},
                        {"priority", record.level},
                        {"reason", executor::to_string(one.reason)},
                        {"time_ms", to_ms(one.time_ns)},
                        {"cpu_ms", to_ms(one.cpu_ns)}});
  }
  const auto response_ns = miss.instance.response_ns();
  Json json = {{"chain", results.application.chains[miss.chain].id},
               {"instance", miss.instance.instance},
               {"release_ms", to_ms(miss.instance.release_ns - results.window.start_ns)},
               {"status", to_string(miss.instance.status)},
               {"response_ms", response_ns ? Json(to_ms(*response_ns)) : Json(nullptr)},
               {"execution_ms", to_ms(miss.execution_ns)},
               {"delayed_ms", to_ms(miss.delayed_ns)},
               {"transit_ms", to_ms(miss.transit_ns)},
               {"unexplained_ms", to_ms(miss.unexplained_ns)},
               {"host_stall_ms", to_ms(miss.instance.host_stall_ns)},
               {"culprits", culprits},
               {"text", miss_text(results.application, results.records, miss)}};
  if (miss.more_culprits > 0) {
    json["more_culprits"] = miss.more_culprits;
    json["more_culprits_ms"] = to_ms(miss.more_culprits_ns);
  }
  return json;
}

Json thread_json(const ThreadResult& thread) {
  const auto policy = [&] {
    switch (thread.scheduling.policy) {
      case realtime::Policy::kFifo:
        return "fifo";
      case realtime::Policy::kRoundRobin:
        return "rr";
      case realtime::Policy::kDeadline:
        return "deadline";
      case realtime::Policy::kOther:
        break;
    }
    return "other";
  };
  Json result = {{"name", thread.name},
                 {"tid", thread.tid},
                 {"policy", policy()},
                 {"priority", thread.scheduling.priority},
                 {"cpus", thread.scheduling.cpus}};
  if (!thread.process.empty()) {
    result["process"] = thread.process;
  }
  return result;
}

/// Returns what is kept of a run that streamed, and how exact its percentiles are.
Json streamed_json(const RunResults& results) {
  constexpr double kPercentileError = 0.001;
  return {{"instances", results.streamed->instances},
          {"kept", results.records.size()},
          {"latest_since_ms", to_ms(results.streamed->latest_since_ns - results.window.start_ns)},
          {"percentile_error", kPercentileError}};
}

/// Adds how the run ended, if it did early, and what it kept, if it streamed.
void add_stream(Json& document, const RunResults& results) {
  if (results.end != RunEnd::kFinished) {
    document["ended"] = results.end == RunEnd::kRunning ? "running" : "interrupted";
  }
  if (results.streamed) {
    document["streamed"] = streamed_json(results);
  }
}

/// Returns the array of make(0) to make(count - 1).
template <typename Make>
Json array_of(std::size_t count, Make make) {
  Json result = Json::array();
  for (std::size_t index = 0; index < count; ++index) {
    result.push_back(make(index));
  }
  return result;
}

}  // namespace

std::string results_json(const RunResults& results) {
  const Json chains =
      array_of(results.chains.size(), [&](std::size_t i) { return chain_json(results, i); });
  const Json cause_effect_chains = array_of(results.cause_effect_chains.size(), [&](std::size_t i) {
    return cause_effect_json(results, i);
  });
  const Json callbacks =
      array_of(results.callbacks.size(), [&](std::size_t i) { return callback_json(results, i); });
  const Json threads = array_of(results.threads.size(),
                                [&](std::size_t i) { return thread_json(results.threads[i]); });
  const Json misses = array_of(
      results.misses.size(), [&](std::size_t i) { return miss_json(results, results.misses[i]); });
  const Json hops = array_of(results.hops.size(),
                             [&](std::size_t i) { return hop_json(results, results.hops[i]); });
  Json document = {
      {"rclrt_results", kFormatVersion},
      {"application",
       {{"name", results.application.name},
        {"file", results.application_file},
        {"sha256", results.application_sha256}}},
      {"executor", name_of(results.executor)},
      {"executor_label", results.executor_label},
      {"started_utc", results.started_utc},
      {"duration_s", static_cast<double>(results.window.end_ns - results.window.start_ns) / 1e9},
      {"rounds", 1},
      {"t0_monotonic_ns", results.window.start_ns},
      {"context", context_json(results)},
      {"chains", chains},
      {"callbacks", callbacks},
      {"threads", threads},
      {"misses", misses}};
  if (!cause_effect_chains.empty()) {
    document["cause_effect_chains"] = cause_effect_chains;
  }
  if (!hops.empty()) {
    document["hops"] = hops;
  }
  if (const HostTable& table = results.hosts; !table.hosts.empty()) {
    document["hosts"] =
        array_of(table.hosts.size(), [&](std::size_t i) { return host_json(results, i); });
  }
  add_stream(document, results);
  if (results.priorities) {
    document["application"]["priorities_file"] = results.priorities->file;
    document["application"]["priorities_sha256"] = results.priorities->sha256;
  }
  if (results.simulation) {
    document["simulated"] = {{"seed", results.simulation->seed},
                             {"lowest_execution", results.simulation->lowest_execution}};
    if (const auto& replayed = results.simulation->replayed) {
      document["simulated"]["replayed"] = {
          {"chain", results.application.chains[replayed->chain].id},
          {"instance", replayed->instance}};
    }
  }
  constexpr int kIndent = 2;
  return document.dump(kIndent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rclrt::recorder
