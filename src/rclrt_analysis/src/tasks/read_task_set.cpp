// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/read_task_set.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "decimal.hpp"
#include "rclrt/model/file_kind.hpp"
#include "rclrt/yaml/file.hpp"
#include "rclrt/yaml/name_index.hpp"
#include "rclrt/yaml/scalars.hpp"

namespace rclrt::analysis {
namespace {

using detail::Decimal;
using detail::Round;
using yaml::Context;
using yaml::Fields;
using yaml::Node;

constexpr std::string_view kNumber =
    "a decimal number that is not negative, such as 2.5, of at most 18 digits";

/// A time of the file and the member that it belongs to.
struct Time {
  const char* key;
  Ticks Task::* member;
  Round round;
  bool required;
};
constexpr std::array kTimes{
    Time{"c", &Task::wcet, Round::kUp, true},
    Time{"t", &Task::period, Round::kDown, true},
    Time{"d", &Task::deadline, Round::kDown, false},
    Time{"j", &Task::jitter, Round::kUp, false},
    Time{"b", &Task::blocking, Round::kUp, false},
    Time{"suspension", &Task::suspension, Round::kUp, false},
    Time{"region", &Task::region, Round::kUp, false},
};

/// A number that has been read; it is converted when the length of a tick is known.
struct Pending {
  std::size_t task;
  const Time* time;
  Decimal number;
  const Node* node;
};

struct Reading {
  Context context;
  TaskFile file;
  std::vector<Pending> times;
  std::vector<const Node*> priorities;  // one per task, null without
  std::vector<yaml::Position> places;   // one per task
  yaml::NameIndex ids{"task", "tasks"};
};

void read_times(const Fields& fields, std::size_t task, Reading& reading) {
  for (const Time& time : kTimes) {
    const std::string example = std::string(time.key) + (time.key[0] == 't' ? ": 10" : ": 2.5");
    const Node* node = time.required ? fields.require(time.key, example) : fields.find(time.key);
    if (node == nullptr) {
      continue;
    }
    const auto number =
        node->kind == yaml::Kind::kPlain ? detail::parse_decimal(node->text) : std::nullopt;
    if (!number) {
      yaml::report_value(*node, time.key, kNumber, reading.context);
    } else if (number->zero() && time.member == &Task::period) {
      yaml::report_value(*node, time.key, "a period above 0", reading.context);
    } else {
      reading.times.push_back({task, &time, *number, node});
    }
  }
}

void read_task(const Node& item, Reading& reading) {
  const Fields fields(item, "task",
                      {"id", "c", "t", "d", "j", "b", "suspension", "region", "priority"},
                      reading.context);
  Task task;
  const std::size_t index = reading.file.tasks.size();
  if (item.kind == yaml::Kind::kMapping) {
    const Node* id = fields.require("id", "id: control");
    auto text = id != nullptr ? yaml::read_text(*id, "id", reading.context) : std::nullopt;
    if (text) {
      task.id = std::move(*text);
      reading.ids.add(task.id, id->at, reading.context);
    } else {
      reading.ids.add_unreadable();
    }
    read_times(fields, index, reading);
  }
  const Node* priority = fields.find("priority");
  if (priority != nullptr) {
    task.priority = static_cast<int>(
        yaml::read_integer(*priority, "priority", {-1'000'000'000, 1'000'000'000}, reading.context)
            .value_or(0));
  }
  reading.priorities.push_back(priority);
  reading.places.push_back(item.at);
  reading.file.tasks.push_back(std::move(task));
}

/// Converts the times. The number with the most decimals determines the length of a tick.
void convert_times(Reading& reading) {
  TaskFile& file = reading.file;
  for (const Pending& pending : reading.times) {
    file.rounded |= pending.number.decimals() > detail::kMaxDecimals;
    file.decimals =
        std::max(file.decimals, std::min(pending.number.decimals(), detail::kMaxDecimals));
  }
  std::vector<bool> has_deadline(file.tasks.size());
  for (const Pending& pending : reading.times) {
    const auto ticks = detail::to_ticks(pending.number, file.decimals, pending.time->round);
    if (!ticks) {
      yaml::report_value(*pending.node, pending.time->key,
                         "at most " + in_units(kMaxTicks, file.decimals) +
                             " when the file has times of " + std::to_string(file.decimals) +
                             " decimals",
                         reading.context);
      continue;
    }
    if (pending.time->member == &Task::period && *ticks == 0) {
      yaml::report_value(*pending.node, "t", "a period of at least 0.000000001", reading.context);
      continue;
    }
    file.tasks[pending.task].*pending.time->member = *ticks;
    if (pending.time->member == &Task::deadline) {
      has_deadline[pending.task] = true;
    }
  }
  for (std::size_t i = 0; i < file.tasks.size(); ++i) {
    if (!has_deadline[i]) {
      file.tasks[i].deadline = file.tasks[i].period;
    }
  }
}

void order_priorities(Reading& reading) {
  TaskFile& file = reading.file;
  if (file.policy == Policy::kEdf || file.policy == Policy::kEdfNonpreemptive) {
    return;
  }
  const auto given = std::ranges::count_if(reading.priorities, [](auto* node) { return node; });
  if (given == 0) {
    file.priorities_by_place = true;
    auto level = static_cast<int>(file.tasks.size());
    for (Task& task : file.tasks) {
      task.priority = level--;
    }
    return;
  }
  for (std::size_t i = 0; i < file.tasks.size(); ++i) {
    if (reading.priorities[i] != nullptr) {
      continue;
    }
    reading.context.diagnostics.report(
        reading.places[i],
        "task " + yaml::in_quotes(file.tasks[i].id) + " has no priority, and others have one",
        "a priority for each task (a higher number is more urgent), or for none (the first is "
        "the most urgent)");
    return;
  }
}

/// Reports, with its place, each value that the policy's analysis would refuse.
void check_policy(Reading& reading) {
  const Policy policy = reading.file.policy;
  for (const Pending& pending : reading.times) {
    if (pending.number.zero()) {
      continue;
    }
    const bool suspension = pending.time->member == &Task::suspension;
    if (suspension && policy != Policy::kFpPreemptive && policy != Policy::kEdf) {
      yaml::report_value(*pending.node, "suspension",
                         "none under this policy: each part of the job would be blocked anew",
                         reading.context);
    }
    if (pending.time->member == &Task::region && policy != Policy::kFpLimitedPreemptive) {
      yaml::report_value(*pending.node, "a region without preemption under this policy",
                         "'policy: fp_limited_preemptive', or no region", reading.context);
    }
  }
}

void read_policy(const Node* node, Reading& reading) {
  if (node == nullptr) {
    return;
  }
  reading.file.policy =
      yaml::read_choice<Policy>(*node, "policy",
                                {{"fp_preemptive", Policy::kFpPreemptive},
                                 {"fp_nonpreemptive", Policy::kFpNonpreemptive},
                                 {"fp_limited_preemptive", Policy::kFpLimitedPreemptive},
                                 {"edf", Policy::kEdf},
                                 {"edf_nonpreemptive", Policy::kEdfNonpreemptive}},
                                reading.context)
          .value_or(Policy::kFpPreemptive);
}

}  // namespace

TaskFileResult parse_task_set(std::string_view text) {
  Reading reading;
  TaskFileResult result;
  const auto root = yaml::read_yaml(text, reading.context.diagnostics);
  if (root && !model::report_other_kind(*root, model::FileKind::kTaskSet, reading.context)) {
    const Fields fields(*root, "task set", {"rclrt", "name", "description", "policy", "tasks"},
                        reading.context);
    if (root->kind == yaml::Kind::kMapping) {
      if (const Node* version = fields.require("rclrt", "rclrt: 1")) {
        yaml::read_integer(*version, "the format version", {1, 1}, reading.context);
      }
      read_policy(fields.find("policy"), reading);
      if (const Node* tasks = fields.require("tasks", "tasks: [{id: control, c: 2, t: 10}]")) {
        for (const Node& item : yaml::read_filled_list(*tasks, "tasks", reading.context)) {
          read_task(item, reading);
        }
      }
      convert_times(reading);
      order_priorities(reading);
      check_policy(reading);
    }
    if (reading.context.diagnostics.empty()) {
      result.file = std::move(reading.file);
    }
  }
  result.diagnostics = reading.context.diagnostics.take();
  return result;
}

TaskFile load_task_set(const std::filesystem::path& file) {
  TaskFileResult result = parse_task_set(yaml::read_file(file, "task set"));
  if (!result.file) {
    throw yaml::FileError(file, result.diagnostics);
  }
  return std::move(*result.file);
}

std::string in_units(Ticks ticks, int decimals) {
  std::string digits = std::to_string(ticks < 0 ? -ticks : ticks);
  const auto places = static_cast<std::size_t>(decimals);
  if (digits.size() <= places) {
    digits.insert(0, places + 1 - digits.size(), '0');
  }
  if (places > 0) {
    digits.insert(digits.size() - places, 1, '.');
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') {
      digits.pop_back();
    }
  }
  return ticks < 0 ? "-" + digits : digits;
}

}  // namespace rclrt::analysis
