// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "counter_example_keys.hpp"
#include "rclrt/analysis/counter_example_file.hpp"
#include "rclrt/analysis/read_task_set.hpp"

namespace rclrt::analysis {
namespace {

using detail::keys_of;
using detail::kMsDecimals;
using detail::OverheadTime;
using model::Application;

std::string ms(std::int64_t time_ns) { return in_units(time_ns, kMsDecimals); }

const std::string& name_of_chain(const CounterExample& example, const Application& application) {
  return example.limit == Limit::kDeadline ? application.chains.at(example.chain).id
                                           : application.cause_effect_chains.at(example.chain).id;
}

/// Returns the limit that is exceeded, in ns.
std::int64_t limit_of(const CounterExample& example, const Application& application) {
  if (example.limit == Limit::kDeadline) {
    return application.chains.at(example.chain).deadline.count();
  }
  const model::CauseEffectChain& chain = application.cause_effect_chains.at(example.chain);
  const auto& limit = example.limit == Limit::kAge ? chain.max_age : chain.max_reaction;
  return limit.value_or(model::Nanoseconds(0)).count();
}

/// Returns the lines of a schedule that begins later than the application.
std::string begin_of(const CounterExample& example) {
  std::string begin;
  if (example.begin_ns > 0) {
    begin += "begins_at_ms: " + ms(example.begin_ns) + "  # " + clock_text(example.begin_ns) +
             " after the application; all other times count from here\n";
  }
  if (example.warm_up_ns > 0) {
    begin += "warm_up_ms: " + ms(example.warm_up_ns) + "  # up to here, nothing takes CPU time\n";
  }
  return begin;
}

/// Returns a line for each overhead of the machine.
std::string machine_of(Overheads overheads) {
  std::string machine;
  for (const OverheadTime& each : detail::times_of(overheads)) {
    if (*each.time > 0) {
      machine += "  " + std::string(each.name) + ": " + ms(*each.time) + "\n";
    }
  }
  return machine;
}

}  // namespace

std::string clock_text(std::int64_t time_ns) {
  constexpr std::int64_t kMinute_ns = std::int64_t{60} * 1'000'000'000;
  std::string text;
  for (const auto& [unit, length_ns] :
       {std::pair{" d ", 24 * 60 * kMinute_ns}, {" h ", 60 * kMinute_ns}, {" min ", kMinute_ns}}) {
    if (time_ns >= length_ns) {
      text += std::to_string(time_ns / length_ns) + unit;
      time_ns %= length_ns;
    }
  }
  return text + in_units(time_ns, 9) + " s";
}

std::string to_text(const CounterExample& example, const Application& application) {
  counter_example_application(application, example);  // throws when it is for another application
  const detail::LimitKeys keys = keys_of(example.limit);
  const std::string chain = name_of_chain(example, application);
  const std::string why =
      example.never_runs ? ": " + application.callbacks.at(*example.never_runs).id + " never runs"
                         : "";
  const std::string misses = example.limit == Limit::kDeadline
                                 ? " misses its deadline" + why
                                 : " exceeds its " + std::string(keys.limit);
  std::string text = "# Chain " + chain + misses +
                     ". To see it: rclrt simulate APP --replay THIS_FILE --out DIR\n"
                     "# docs/reference/files.md#counter-examples explains the keys.\n";
  const auto line = [&](const char* key, const std::string& value) {
    text += std::string(key) + ": " + value + "\n";
  };
  line("rclrt", "1");
  line("application", application.name);
  line("executor", name_of(example.executor));
  line("chain", chain);
  text += begin_of(example);
  line("instance", std::to_string(example.instance));
  line("release_ms", ms(example.release_ns));
  line(keys.time, ms(example.response_ns));
  if (example.never_runs) {
    line("never_runs", application.callbacks.at(*example.never_runs).id);
  }
  line(keys.limit, ms(limit_of(example, application)));
  line("horizon_ms", ms(example.horizon_ns));
  line("seed", std::to_string(example.seed));
  line("execution_from_percent", std::to_string(example.lowest_execution_percent));
  if (example.extremes) {
    line("draws", "extremes");
  }
  line("cpus", std::to_string(example.cpus) +
                   "  # of each executor for which the application states no CPUs");
  const std::string machine = machine_of(example.overheads);
  if (!machine.empty()) {
    text += "overheads_ms:\n" + machine;
    line("delays_from_percent", std::to_string(example.lowest_delay_percent));
  }
  text += "offsets_ms:\n";
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const model::Callback& callback = application.callbacks[i];
    if (callback.takes_messages()) {
      continue;
    }
    text += "  " + callback.id + ": " + ms(example.offsets_ns[i]) + "\n";
  }
  text += "priorities:\n";
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    text +=
        "  " + application.callbacks[i].id + ": " + std::to_string(example.priorities[i]) + "\n";
  }
  return text;
}

}  // namespace rclrt::analysis
