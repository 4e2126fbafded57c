// SPDX-License-Identifier: Apache-2.0
#include "plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "bare.hpp"
#include "cases.hpp"
#include "setting.hpp"

namespace rclrt::bench {

namespace {

const std::string kBare = "bare";

class Planner {
 public:
  Planner(const PlanOptions& options, Rows& rows)
      : options_(options), cpu_sets_(options.cpu_sets), rows_(rows) {}

  std::vector<Turn> make() {
    floors();
    if (wants("timer")) {
      each("timer", {"timer"}, true, one(measure_timers));
    }
    if (wants("dispatch")) {
      each("dispatch", {"guard_condition"}, true, one(measure_guard_conditions));
      each("dispatch", {"service", "client"}, true, two(measure_request));
    }
    if (wants("dispatch") || wants("publish")) {
      publish();
    }
    if (wants("publish_in_callback")) {
      each("publish_in_callback", {"subscription"}, false, one(measure_publish_in_callback));
    }
    if (wants("burner")) {
      each("burner", {"timer"}, false, one(measure_burner));
    }
    if (wants("saturated")) {
      each("saturated", {"subscription"}, false, one(measure_saturated));
    }
    if (options_.quick_growth) {
      cpu_sets_.resize(1);
    }
    if (wants("entities")) {
      for (const int size : options_.sizes) {
        each("entities", {"timer"}, false, one(measure_timers), size);
        each("entities", {"guard_condition"}, false, one(measure_guard_conditions), size);
      }
    }
    if (wants("levels")) {
      for (const int levels : options_.levels) {
        each("levels", {"timer"}, false, one(measure_timers), levels, levels);
      }
    }
    return std::move(turns_);
  }

 private:
  using Measure = std::function<void(const Setting&, const std::vector<Row*>&)>;

  static Measure one(void (*measure)(const Setting&, Row&)) {
    return [measure](const Setting& setting, const std::vector<Row*>& rows) {
      measure(setting, *rows[0]);
    };
  }
  static Measure two(void (*measure)(const Setting&, Row&, Row&)) {
    return [measure](const Setting& setting, const std::vector<Row*>& rows) {
      measure(setting, *rows[0], *rows[1]);
    };
  }

  bool wants(const std::string& name) const {
    return std::find(options_.cases.begin(), options_.cases.end(), name) != options_.cases.end();
  }

  void add(const std::vector<RowKey>& keys, const std::vector<int>& cpus, bool counts,
           Measure measure) {
    Setting setting{.executor = keys.front().executor,
                    .cpus = cpus,
                    .realtime = options_.realtime,
                    .warm_up = options_.warm_up,
                    .samples = options_.samples};
    Turn turn{.counts_system_calls = counts};
    for (const RowKey& key : keys) {
      turn.rows.push_back(&rows_.add(key));
    }
    turn.run = [setting, rows = turn.rows,
                measure = std::move(measure)](const std::shared_ptr<Context>& context) mutable {
      setting.context = context;
      measure(setting, rows);
    };
    turns_.push_back(std::move(turn));
  }

  void floors() {
    for (const auto& cpus : cpu_sets_) {
      const int count = static_cast<int>(cpus.size());
      const auto key = [&](const char* name, const char* entity) {
        return RowKey{.name = name, .executor = kBare, .cpus = count, .entity = entity};
      };
      add({key("dispatch", "futex_wake")}, cpus, true, one(measure_futex_wake));
      add({key("timer", "nanosleep")}, cpus, true, one(measure_nanosleep));
      add({key("publish", "inline"), key("dispatch", "take")}, cpus, true,
          two(measure_publish_take));
      add({key("dispatch", "take_request"), key("dispatch", "take_response")}, cpus, true,
          two(measure_request_take));
      if (wants("saturated")) {
        add({key("saturated", "inline")}, cpus, false, one(measure_saturated_inline));
      }
    }
  }

  void each(const std::string& name, const std::vector<std::string>& entities, bool counts,
            const Measure& measure, int size = 1, int levels = 1) {
    for (const auto& cpus : cpu_sets_) {
      for (const std::string& executor : options_.executors) {
        std::vector<RowKey> keys;
        for (const std::string& entity : entities) {
          keys.push_back({name, executor, static_cast<int>(cpus.size()), entity, size, levels});
        }
        add(keys, cpus, counts, measure);
      }
    }
  }

  /// One run gives two rows.
  void publish() {
    for (const auto& cpus : cpu_sets_) {
      const int count = static_cast<int>(cpus.size());
      for (const std::string& executor : options_.executors) {
        add({{"dispatch", executor, count, "subscription"},
             {"publish", executor, count, "subscription"}},
            cpus, true, two(measure_publish));
      }
    }
  }

  const PlanOptions& options_;
  std::vector<std::vector<int>> cpu_sets_;
  Rows& rows_;
  std::vector<Turn> turns_;
};

using NamedRow = std::pair<std::string, std::string>;  // case and entity of a bare row

std::vector<NamedRow> floor_of(const RowKey& key) {
  static const NamedRow kWake = {"dispatch", "futex_wake"};
  static const NamedRow kSleep = {"timer", "nanosleep"};
  static const NamedRow kInline = {"publish", "inline"};
  static const std::map<NamedRow, std::vector<NamedRow>> kFloors = {
      {{"dispatch", "guard_condition"}, {kWake}},
      {{"dispatch", "subscription"}, {kWake, {"dispatch", "take"}}},
      {{"dispatch", "service"}, {kWake, {"dispatch", "take_request"}}},
      {{"dispatch", "client"}, {kWake, {"dispatch", "take_response"}}},
      {{"timer", "timer"}, {kSleep}},
      {{"publish", "subscription"}, {kWake, kInline}},
      {{"publish_in_callback", "subscription"}, {kWake, kInline}},
      {{"burner", "timer"}, {kSleep}},
      {{"entities", "timer"}, {kSleep}},
      {{"entities", "guard_condition"}, {kWake}},
      {{"levels", "timer"}, {kSleep}},
  };
  const auto found = kFloors.find({key.name, key.entity});
  return key.executor == kBare || found == kFloors.end() ? std::vector<NamedRow>{} : found->second;
}

}  // namespace

const std::vector<std::string>& case_names() {
  static const std::vector<std::string> kNames = {
      "dispatch", "timer",     "publish",  "publish_in_callback",
      "burner",   "saturated", "entities", "levels"};
  return kNames;
}

std::vector<Turn> make_plan(const PlanOptions& options, Rows& rows) {
  return Planner(options, rows).make();
}

double floor_us(const Rows& rows, const Row& row) {
  double sum = 0;
  const std::vector<NamedRow> floors = floor_of(row.key);
  for (const NamedRow& floor : floors) {
    const RowKey key{
        .name = floor.first, .executor = kBare, .cpus = row.key.cpus, .entity = floor.second};
    const auto found = std::find_if(rows.all().begin(), rows.all().end(),
                                    [&](const Row& each) { return each.key == key; });
    sum += found == rows.all().end() ? std::nan("") : found->latency.quantile_us(0.5);
  }
  return floors.empty() ? std::nan("") : sum;
}

}  // namespace rclrt::bench
