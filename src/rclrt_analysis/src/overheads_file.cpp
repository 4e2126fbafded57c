// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/overheads_file.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <rclrt/text/number.hpp>
#include <utility>

#include "decimal.hpp"
#include "rclrt/model/executor_kind.hpp"
#include "rclrt/model/file_kind.hpp"
#include "rclrt/yaml/file.hpp"
#include "rclrt/yaml/scalars.hpp"

namespace rclrt::analysis {
namespace {

using detail::Round;
using yaml::Context;
using yaml::Fields;
using yaml::Node;

constexpr Ticks kMostNs = 1'000'000'000'000;  // as in the schema
constexpr int kMostCpus = 65536;
constexpr int kNsDecimals = 3;  // of a microsecond

std::optional<Ticks> nanoseconds_of(std::string_view microseconds, Round round) {
  const auto number = detail::parse_decimal(microseconds);
  const auto ticks = number ? detail::to_ticks(*number, kNsDecimals, round) : std::nullopt;
  return ticks && *ticks <= kMostNs ? ticks : std::nullopt;
}

class OverheadsReader {
 public:
  explicit OverheadsReader(Context& context) : context_(context) {}

  OverheadsFile read(const Node& root) {
    const Fields fields(root, "file of overheads",
                        {"rclrt", "kind", "executors", "hop_us", "background_us", "rt_bandwidth",
                         "seconds", "steal_ms", "host_stalls", "realtime", "machine"},
                        context_);
    if (const Node* node = fields.require("rclrt", "rclrt: 1")) {
      yaml::read_integer(*node, "rclrt", {1, 1}, context_);
    }
    if (const Node* node = fields.require("kind", "kind: overheads")) {
      if (!yaml::is_scalar(*node) || node->text != "overheads") {
        yaml::report_value(*node, "kind", "'overheads', as rclrt calibrate writes", context_);
      }
    }
    if (const Node* node = fields.require("executors", "executors: {preemptive: {...}}")) {
      read_executors(*node);
    }
    if (const Node* node = fields.find("hop_us")) {
      const Fields hops(*node, "hop_us", {"intra_process", "same_host"}, context_);
      file_.intra_process = time(hops, "hop_us.", "intra_process");
      file_.same_host = time(hops, "hop_us.", "same_host");
    }
    file_.background = time(fields, "", "background_us");
    if (const Node* node = fields.find("rt_bandwidth")) {
      read_share(*node);
    }
    if (const Node* node = fields.find("machine")) {
      read_machine(*node);
    }
    return std::move(file_);
  }

 private:
  void read_executors(const Node& section) {
    if (section.kind != yaml::Kind::kMapping) {
      yaml::report_value(section, "executors", "a mapping such as {preemptive: {dispatch_us: 20}}",
                         context_);
      return;
    }
    if (section.children.empty()) {
      yaml::report_value(section, "executors",
                         "the times of at least one executor, such as {preemptive: {dispatch_us: "
                         "20}}; rclrt calibrate measures them",
                         context_);
    }
    for (std::size_t i = 0; i + 1 < section.children.size(); i += 2) {
      const Node& key = section.children[i];
      const auto kind = model::executor_kind_of(key.text);
      if (!kind || model::traits(*kind).simulated_only) {
        yaml::report_value(key, "an executor", "one of " + model::executor_names(), context_);
        continue;
      }
      const std::string place = "executors." + key.text;
      const Fields own(
          section.children[i + 1], place,
          {"dispatch_us", "timer_lateness_us", "scheduler_us", "polling_us", "handover_us"},
          context_);
      file_.executors[*kind] = {.dispatch = time(own, place + ".", "dispatch_us"),
                                .timer_lateness = time(own, place + ".", "timer_lateness_us"),
                                .scheduler = time(own, place + ".", "scheduler_us"),
                                .polling = time(own, place + ".", "polling_us"),
                                .handover = time(own, place + ".", "handover_us")};
    }
  }

  /// Reads a time: a number of microseconds, or a mapping of statistics.
  std::optional<MeasuredTime> time(const Fields& fields, const std::string& place,
                                   const char* key) {
    const Node* node = fields.find(key);
    if (node == nullptr) {
      return std::nullopt;
    }
    const std::string what = place + key;
    if (node->kind != yaml::Kind::kMapping) {
      const Ticks most = nanoseconds(*node, what, Round::kUp).value_or(0);
      const Ticks least = nanoseconds(*node, "", Round::kDown).value_or(0);
      return MeasuredTime{.min = least,
                          .max = most,
                          .max_undisturbed = std::nullopt,
                          .p99 = std::nullopt,
                          .p50 = std::nullopt};
    }
    const Fields own(*node, what, {"n", "min", "p50", "p99", "max", "max_undisturbed", "disturbed"},
                     context_);
    const auto statistic = [&](const char* name, Round round) -> std::optional<Ticks> {
      const Node* stated = own.find(name);
      return stated != nullptr ? nanoseconds(*stated, what + "." + name, round) : std::nullopt;
    };
    own.require("max", "max: 42.5");
    const MeasuredTime found{.min = statistic("min", Round::kDown).value_or(0),
                             .max = statistic("max", Round::kUp).value_or(0),
                             .max_undisturbed = statistic("max_undisturbed", Round::kUp),
                             .p99 = statistic("p99", Round::kUp),
                             .p50 = statistic("p50", Round::kUp)};
    check_order(own, what, {"min", "p50", "p99", "max"},
                {found.min, found.p50, found.p99, found.max});
    check_order(own, what, {"min", "max_undisturbed", "max"},
                {found.min, found.max_undisturbed, found.max});
    return found;
  }

  /// Reports a statistic that is less than one before it. Absent ones do not count.
  void check_order(const Fields& fields, const std::string& what,
                   const std::vector<const char*>& names,
                   const std::vector<std::optional<Ticks>>& values) {
    std::optional<std::size_t> before;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Node* node = fields.find(names[i]);
      if (node == nullptr || !values[i]) {
        continue;
      }
      if (before && *values[i] < *values[*before]) {
        yaml::report_value(*node, what + "." + names[i],
                           std::string("no less than ") + names[*before], context_);
        return;
      }
      before = i;
    }
  }

  /// Reports a wrong value under the name `what`, unless that is empty.
  std::optional<Ticks> nanoseconds(const Node& node, const std::string& what, Round round) {
    const auto ticks =
        node.kind == yaml::Kind::kPlain ? nanoseconds_of(node.text, round) : std::nullopt;
    if (!ticks && !what.empty()) {
      yaml::report_value(node, what, kMicroseconds, context_);
    }
    return ticks;
  }

  void read_share(const Node& section) {
    const Fields fields(section, "rt_bandwidth", {"share", "longest_wait_us", "period_us"},
                        context_);
    const Node* node = fields.require("share", "share: 0.95");
    if (node == nullptr) {
      return;
    }
    const bool is_decimal =
        node->kind == yaml::Kind::kPlain && detail::parse_decimal(node->text).has_value();
    const auto value = text::parse_number<double>(node->text, {0, 1});
    if (!is_decimal || !value) {
      yaml::report_value(*node, "rt_bandwidth.share", "a share from 0 to 1", context_);
      return;
    }
    file_.realtime_share = *value;
  }

  /// The section may have any keys.
  void read_machine(const Node& section) {
    if (section.kind != yaml::Kind::kMapping) {
      yaml::report_value(section, "machine", "a mapping such as {kernel: 6.1}", context_);
      return;
    }
    for (std::size_t i = 0; i + 1 < section.children.size(); i += 2) {
      if (section.children[i].text == "message_bytes") {
        file_.message_bytes =
            yaml::read_integer(section.children[i + 1], "machine.message_bytes",
                               {0, std::numeric_limits<std::int64_t>::max()}, context_);
      } else if (section.children[i].text == "rmw") {
        read_middleware(section.children[i + 1]);
      } else if (section.children[i].text == "cpus") {
        file_.cpus = static_cast<int>(
            yaml::read_integer(section.children[i + 1], "machine.cpus", {1, kMostCpus}, context_)
                .value_or(0));
      }
    }
  }

  /// The name appears in messages, so it has to be one of a package.
  void read_middleware(const Node& node) {
    constexpr std::size_t kLongest = 64;
    const auto may_be_in_name = [](char c) {
      return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    };
    if (!yaml::is_scalar(node) || node.text.empty() || node.text.size() > kLongest ||
        !std::ranges::all_of(node.text, may_be_in_name)) {
      yaml::report_value(node, "machine.rmw", "a package's name, such as rmw_fastrtps_cpp",
                         context_);
      return;
    }
    file_.rmw = node.text;
    file_.rmw_at = node.at;
  }

  Context& context_;
  OverheadsFile file_;
};

Ticks value_of(const std::optional<MeasuredTime>& time, Statistic statistic) {
  if (!time) {
    return 0;
  }
  switch (statistic) {
    case Statistic::kMaxUndisturbed:
      return time->max_undisturbed.value_or(time->max);
    case Statistic::kP99:
      return time->p99.value_or(time->max);
    case Statistic::kP50:
      return time->p50.value_or(time->max);
    case Statistic::kMax:
      break;
  }
  return time->max;
}

HopKind hops_of(const model::Application& application) {
  return application.processes().size() > 1 ? HopKind::kSameHost : HopKind::kIntraProcess;
}

std::int64_t largest_message(const model::Application& application) {
  std::size_t largest = 0;
  for (const model::Topic& topic : application.topics) {
    largest = std::max(largest, topic.size_bytes);
  }
  return static_cast<std::int64_t>(largest);
}

/// Adds an assumption for each time that neither the file nor the user states, because it counts as
/// zero. A missing dispatch time is a condition instead: every bound is then conditional, as with
/// Machine::unmeasured().
void assume_zero(const OverheadsFile& file, const MeasuredExecutor& own, ExecutorKind executor,
                 HopKind hops, const StatedOverheads& stated, Machine& machine) {
  const model::ExecutorTraits& traits = model::traits(executor);
  const std::string of_executor = " of " + std::string(traits.name);
  const auto zero = [&](const std::string& key) {
    return key + ", not in " + file.name + ", is zero";
  };
  const auto add = [&](bool known, const std::string& key) {
    if (!known) {
      machine.assumptions.push_back({"not-measured", zero(key)});
    }
  };
  if (!own.dispatch && !stated.dispatch) {
    machine.conditions.push_back(zero("dispatch_us" + of_executor) +
                                 " (rclrt calibrate measures it)");
  }
  add(own.timer_lateness || stated.timer_jitter, "timer_lateness_us" + of_executor);
  add(!traits.polls || own.polling, "polling_us" + of_executor);
  add(!traits.has_scheduler_thread || own.scheduler || stated.scheduler,
      "scheduler_us" + of_executor);
  const bool far = hops == HopKind::kSameHost;
  add((far ? file.same_host : file.intra_process) || stated.hop,
      far ? "hop_us.same_host" : "hop_us.intra_process");
  add(file.background.has_value(), "background_us");
}

/// Adds what the statistic assumes, or the condition that it makes.
void assume_statistic(const OverheadsFile& file, Statistic statistic, Machine& machine) {
  switch (statistic) {
    case Statistic::kMax:
      machine.assumptions.push_back(
          {"overheads", "no overhead exceeds the measured maximum (" + file.name + ")"});
      break;
    case Statistic::kMaxUndisturbed:
      machine.assumptions.push_back({"overheads",
                                     "the host does not stall, and no overhead exceeds the maximum "
                                     "that was measured while it "
                                     "did not (" +
                                         file.name + ")"});
      break;
    case Statistic::kP99:
    case Statistic::kP50:
      machine.conditions.push_back("no overhead exceeds the " +
                                   std::string(statistic == Statistic::kP99 ? "p99" : "p50") +
                                   " of those measured (" + file.name + ")");
      break;
  }
}

/// Replaces measured times by stated ones.
void apply(const StatedOverheads& stated, Overheads& overheads) {
  overheads.dispatch = stated.dispatch.value_or(overheads.dispatch);
  overheads.timer_jitter = stated.timer_jitter.value_or(overheads.timer_jitter);
  overheads.scheduler = stated.scheduler.value_or(overheads.scheduler);
  if (stated.hop) {
    overheads.far = {.min = 0, .max = *stated.hop};
  }
}

}  // namespace

std::optional<Ticks> parse_microseconds(std::string_view text) {
  return nanoseconds_of(text, Round::kUp);
}

OverheadsFileResult parse_overheads(std::string_view text, std::string name) {
  Context context;
  OverheadsFileResult result;
  const auto root = yaml::read_yaml(text, context.diagnostics);
  if (root && !model::report_other_kind(*root, model::FileKind::kOverheads, context)) {
    OverheadsFile file = OverheadsReader(context).read(*root);
    if (context.diagnostics.empty()) {
      file.name = std::move(name);
      result.file = std::move(file);
    }
  }
  result.diagnostics = context.diagnostics.take();
  return result;
}

OverheadsFile load_overheads(const std::filesystem::path& file) {
  OverheadsFileResult result =
      parse_overheads(yaml::read_file(file, "file of rclrt calibrate"), file.string());
  if (!result.file) {
    throw yaml::FileError(file, result.diagnostics);
  }
  return *std::move(result.file);
}

Machine machine_of(const OverheadsFile& file, const model::Application& application,
                   ExecutorKind executor, const MachineChoice& choice) {
  const HopKind hops = choice.hops.value_or(hops_of(application));
  if (hops == HopKind::kSameHost && !file.same_host && !choice.stated.hop) {
    throw yaml::FileError(file.name +
                          ": hop_us.same_host is missing; expected the time of a message between "
                          "processes");
  }
  const auto at = file.executors.find(executor);
  const MeasuredExecutor own = at != file.executors.end() ? at->second : MeasuredExecutor{};
  Machine machine;
  machine.realtime_share = file.realtime_share;
  assume_zero(file, own, executor, hops, choice.stated, machine);
  assume_statistic(file, choice.statistic, machine);
  if (const std::int64_t largest = largest_message(application);
      file.message_bytes && largest > *file.message_bytes) {
    machine.conditions.push_back("a message of " + std::to_string(largest) +
                                 " bytes takes no longer than one of " +
                                 std::to_string(*file.message_bytes) + ", with which " + file.name +
                                 " was measured (rclrt calibrate --message-bytes)");
  }
  Ticks least = file.intra_process ? file.intra_process->min : 0;
  if (hops == HopKind::kSameHost) {
    machine.assumptions.push_back({"same-host", "executors are processes of this host"});
    least = file.same_host ? std::min(least, file.same_host->min) : 0;
  }
  if (least > 0 && !choice.stated.hop) {
    machine.assumptions.push_back(
        {"least-hop", "no message is faster than the fastest measured (" + file.name + ")"});
  }
  const Ticks most =
      value_of(hops == HopKind::kSameHost ? file.same_host : file.intra_process, choice.statistic);
  machine.overheads = {.dispatch = value_of(own.dispatch, choice.statistic),
                       .timer_jitter = value_of(own.timer_lateness, choice.statistic),
                       .scheduler = value_of(own.scheduler, choice.statistic),
                       .polling = value_of(own.polling, choice.statistic),
                       .background = value_of(file.background, choice.statistic),
                       .far = {.min = std::min(least, most), .max = most},
                       .handover = value_of(own.handover, choice.statistic),
                       .cpus = file.cpus};
  apply(choice.stated, machine.overheads);
  return machine;
}

Machine machine_of(const StatedOverheads& stated) {
  Machine machine = stated.dispatch ? Machine{} : Machine::unmeasured();
  apply(stated, machine.overheads);
  return machine;
}

}  // namespace rclrt::analysis
