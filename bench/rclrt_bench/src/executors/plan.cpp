// SPDX-License-Identifier: Apache-2.0
#include "plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "bare.hpp"
#include "cases.hpp"
#include "contender.hpp"
#include "setting.hpp"

namespace rclrt::bench {

namespace {

constexpr const char* kBare = "bare";

using Measure = std::function<void(const Setting&, const std::vector<Row*>&)>;

Measure one(void (*measure)(const Setting&, Row&)) {
  return [measure](const Setting& setting, const std::vector<Row*>& rows) {
    measure(setting, *rows[0]);
  };
}
Measure two(void (*measure)(const Setting&, Row&, Row&)) {
  return [measure](const Setting& setting, const std::vector<Row*>& rows) {
    measure(setting, *rows[0], *rows[1]);
  };
}

/// One run: it has a row for each pair of case and entity.
struct Run {
  std::vector<std::pair<std::string, std::string>> rows;
  Measure measure;
  bool counts_system_calls = false;
};

/// A run under every contender, and its floors.
struct Comparison {
  std::string wanted;  ///< the cases for which it is made
  Run run;
  std::vector<Run> bare;
};

Run futex_wake(const std::string& name) {
  return {{{name, "futex_wake"}}, one(measure_futex_wake), true};
}
Run nanosleep(const std::string& name) {
  return {{{name, "nanosleep"}}, one(measure_nanosleep), true};
}
Run publish_take(const std::string& name) {
  return {{{name, "inline"}, {name, "take"}}, two(measure_publish_take), true};
}

/// Each run is a new executor, so a round has one sample of each first instance.
Comparison first_instances() {
  return {"first", {{{"first", "first_5"}, {"first", "next"}}, two(measure_first)}, {}};
}

std::vector<Comparison> comparisons() {
  return {
      {"timer",
       {{{"timer", "timer"}}, one(measure_timers), true},
       {nanosleep("timer"), {{{"timer", "futex_timeout"}}, one(measure_futex_timeout)}}},
      {"dispatch",
       {{{"dispatch", "guard_condition"}}, one(measure_guard_conditions), true},
       {futex_wake("dispatch")}},
      {"dispatch",
       {{{"dispatch", "service"}, {"dispatch", "client"}}, two(measure_request), true},
       {{{{"dispatch", "take_request"}, {"dispatch", "take_response"}},
         two(measure_request_take),
         true},
        {{{"dispatch", "rest_of_request"}, {"dispatch", "rest_of_response"}},
         two(measure_rest_of_request)},
        {{{"dispatch", "wake_take_request"}}, one(measure_wake_take_request)},
        futex_wake("dispatch")}},
      {"dispatch publish",
       {{{"dispatch", "subscription"}, {"publish", "subscription"}}, two(measure_publish), true},
       {publish_take("dispatch"),
        {{{"dispatch", "rest_of_publish"}}, one(measure_rest_of_publish)},
        {{{"dispatch", "wake_take"}}, one(measure_wake_take)},
        publish_take("publish"),
        futex_wake("publish")}},
      {"intra_process",
       {{{"intra_process", "subscription"}}, one(measure_intra_process), true},
       {futex_wake("intra_process")}},
      {"publish_in_callback",
       {{{"publish_in_callback", "subscription"}}, one(measure_publish_in_callback)},
       {publish_take("publish_in_callback"), futex_wake("publish_in_callback")}},
      {"burner", {{{"burner", "timer"}}, one(measure_burner)}, {nanosleep("burner")}},
      {"saturated",
       {{{"saturated", "subscription"}}, one(measure_saturated)},
       {{{{"saturated", "inline"}}, one(measure_saturated_inline)}}},
  };
}

/// Returns the comparisons that are repeated for each size.
std::vector<Comparison> growth_by_entities() {
  return {
      {"entities", {{{"entities", "timer"}}, one(measure_timers)}, {nanosleep("entities")}},
      {"entities",
       {{{"entities", "guard_condition"}}, one(measure_guard_conditions)},
       {futex_wake("entities")}},
  };
}
Comparison growth_by_levels() {
  return {"levels", {{{"levels", "timer"}}, one(measure_timers)}, {nanosleep("levels")}};
}

class Planner {
 public:
  Planner(const PlanOptions& options, Rows& rows)
      : options_(options), cpu_sets_(options.cpu_sets), rows_(rows) {}

  std::vector<Turn> make() {
    for (const Comparison& comparison : comparisons()) {
      add(comparison);
    }
    const auto all_cpu_sets = cpu_sets_;
    cpu_sets_.resize(1);
    add(first_instances());
    if (!options_.quick_growth) {
      cpu_sets_ = all_cpu_sets;
    }
    for (const int size : options_.sizes) {
      for (const Comparison& comparison : growth_by_entities()) {
        add(comparison, size);
      }
    }
    for (const int levels : options_.levels) {
      add(growth_by_levels(), levels, levels);
    }
    return std::move(turns_);
  }

 private:
  bool wants(const Comparison& comparison) const {
    return std::any_of(options_.cases.begin(), options_.cases.end(), [&](const std::string& name) {
      return (" " + comparison.wanted + " ").find(" " + name + " ") != std::string::npos;
    });
  }

  /// Adds a turn for the floors and for each contender, on one CPU and then on two.
  void add(const Comparison& comparison, int entities = 1, int levels = 1) {
    if (!wants(comparison)) {
      return;
    }
    for (const auto& cpus : cpu_sets_) {
      const RowKey key{
          .cpus = static_cast<int>(cpus.size()), .entities = entities, .levels = levels};
      for (const Run& run : comparison.bare) {
        add(run, kBare, cpus, key);
      }
      for (const std::string& executor : options_.executors) {
        if (Contender::runs_with(executor, cpus.size(), entities)) {
          add(comparison.run, executor, cpus, key);
        }
      }
    }
  }

  void add(const Run& run, const std::string& executor, const std::vector<int>& cpus, RowKey key) {
    Setting setting{.executor = executor,
                    .cpus = cpus,
                    .realtime = options_.realtime,
                    .warm_up = options_.warm_up,
                    .samples = options_.samples};
    Turn turn{.counts_system_calls = run.counts_system_calls};
    key.executor = executor;
    for (const auto& [name, entity] : run.rows) {
      key.name = name;
      key.entity = entity;
      turn.rows.push_back(&rows_.at(key));
    }
    turn.run = [setting, rows = turn.rows,
                measure = run.measure](const std::shared_ptr<Context>& context) mutable {
      setting.context = context;
      measure(setting, rows);
    };
    turns_.push_back(std::move(turn));
  }

  const PlanOptions& options_;
  std::vector<std::vector<int>> cpu_sets_;
  Rows& rows_;
  std::vector<Turn> turns_;
};

/// Returns the bare entities of the same case; the sum of their p50 is the floor of `key`.
std::vector<std::string> floor_of(const RowKey& key) {
  if (key.executor == kBare || key.name == "saturated" || key.name == "first") {
    return {};
  }
  if (key.entity == "timer") {
    return {"nanosleep"};
  }
  static const std::map<std::string, std::string> kTakes = {
      {"subscription", "take"}, {"service", "take_request"}, {"client", "take_response"}};
  if (const auto take = kTakes.find(key.entity); key.name == "dispatch" && take != kTakes.end()) {
    return {"futex_wake", take->second};
  }
  if (key.name == "publish" || key.name == "publish_in_callback") {
    return {"futex_wake", "inline"};
  }
  return {"futex_wake"};
}

}  // namespace

const std::vector<std::string>& case_names() {
  static const std::vector<std::string> kNames = {
      "dispatch",      "timer",  "publish",   "publish_in_callback",
      "intra_process", "burner", "saturated", "first",
      "entities",      "levels"};
  return kNames;
}

std::vector<Turn> make_plan(const PlanOptions& options, Rows& rows) {
  return Planner(options, rows).make();
}

double floor_us(const Rows& rows, const Row& row) {
  const std::vector<std::string> floors = floor_of(row.key);
  double sum = 0;
  for (const std::string& floor : floors) {
    RowKey key = row.key;
    key.executor = kBare;
    key.entity = floor;
    const auto found = std::find_if(rows.all().begin(), rows.all().end(),
                                    [&](const Row& each) { return each.key == key; });
    sum += found == rows.all().end() ? std::nan("") : found->latency.quantile_us(0.5);
  }
  return floors.empty() ? std::nan("") : sum;
}

}  // namespace rclrt::bench
