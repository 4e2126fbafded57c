// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/counter_example_file.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "counter_example_keys.hpp"
#include "decimal.hpp"
#include "later_begins.hpp"
#include "rclrt/analysis/read_task_set.hpp"
#include "rclrt/model/file_kind.hpp"
#include "rclrt/yaml/file.hpp"
#include "rclrt/yaml/name_index.hpp"
#include "rclrt/yaml/scalars.hpp"
#include "release_times.hpp"
#include "simulation/simulated_times.hpp"

namespace rclrt::analysis {
namespace {

using detail::keys_of;
using detail::kMsDecimals;
using detail::OverheadTime;
using detail::times_of;
using model::Application;
using yaml::Context;
using yaml::Fields;
using yaml::kUnknown;
using yaml::NameIndex;
using yaml::Node;

constexpr std::int64_t kLatestBegin_ns = 2 * detail::ReleaseTimes::kLatest_ns;
constexpr yaml::IntegerRange kCounts{0, std::numeric_limits<std::int64_t>::max()};

NameIndex index_of_callbacks(const Application& application, Context& context) {
  NameIndex callbacks("callback", "callbacks");
  for (const model::Callback& callback : application.callbacks) {
    callbacks.add(callback.id, {}, context);
  }
  return callbacks;
}

template <typename Read>
void read_mapping(const Node& section, std::string_view what, const Application& application,
                  Context& context, Read read) {
  if (section.kind != yaml::Kind::kMapping) {
    yaml::report_value(section, what, "callbacks and their values, like {scan: 3}", context);
    return;
  }
  const NameIndex callbacks = index_of_callbacks(application, context);
  for (std::size_t i = 0; i + 1 < section.children.size(); i += 2) {
    const Node& key = section.children[i];
    const std::size_t callback = callbacks.resolve(key.text, key.at, context);
    if (callback != kUnknown) {
      read(callback, key, section.children[i + 1]);
    }
  }
}

class Reader {
 public:
  Reader(const Application& application, Context& context)
      : application_(application), context_(context) {
    example_.priorities = application.effective_priorities();
    for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
      example_.offsets_ns.push_back(detail::stated_offset_ns(application.callbacks[i]));
    }
  }

  CounterExample read(const Node& root) {
    const Fields fields(root, "counter-example",
                        {"rclrt",      "application", "executor",     "chain",
                         "instance",   "release_ms",  "response_ms",  "reaction_ms",
                         "age_ms",     "never_runs",  "deadline_ms",  "max_reaction_ms",
                         "max_age_ms", "horizon_ms",  "seed",         "execution_from_percent",
                         "draws",      "cpus",        "overheads_ms", "delays_from_percent",
                         "offsets_ms", "priorities",  "begins_at_ms", "warm_up_ms"},
                        context_);
    if (root.kind != yaml::Kind::kMapping) {
      return example_;
    }
    integer(fields, "rclrt", {1, 1});
    if (!is_of_application(fields)) {
      return example_;  // the other names would be unknown as well
    }
    read_limit(fields);
    read_names(fields);
    if (const Node* node = fields.find("begins_at_ms")) {
      read_begin(*node, fields);
    } else if (const Node* warm_up = fields.find("warm_up_ms")) {
      yaml::report_value(*warm_up, "warm_up_ms", "no such key without begins_at_ms", context_);
    }
    example_.instance = static_cast<std::uint64_t>(integer(fields, "instance", kCounts));
    example_.release_ns = time(fields, "release_ms");
    example_.response_ns = time(fields, keys_of(example_.limit).time);
    example_.horizon_ns = time(fields, "horizon_ms");
    example_.seed = static_cast<std::uint64_t>(integer(fields, "seed", kCounts));
    example_.lowest_execution_percent =
        static_cast<int>(integer(fields, "execution_from_percent", {0, 100}));
    if (const Node* node = fields.find("draws")) {
      read_draws(*node);
    }
    example_.cpus = static_cast<unsigned>(integer(fields, "cpus", {1, 64}));
    read_schedule(fields);
    return example_;
  }

 private:
  std::int64_t integer(const Fields& fields, const char* key, yaml::IntegerRange range) {
    const Node* node = fields.require(key, std::string(key) + ": 1");
    if (node == nullptr) {
      return range.min;
    }
    return yaml::read_integer(*node, key, range, context_).value_or(range.min);
  }

  std::int64_t time(const Fields& fields, const char* key) {
    const Node* node = fields.require(key, std::string(key) + ": 2.5");
    if (node == nullptr) {
      return 0;
    }
    const auto value = yaml::read_milliseconds(*node, key, yaml::Zero::kAllowed, context_);
    return value ? value->count() : 0;
  }

  /// Reads when the schedule begins, and moves the stated offsets there.
  void read_begin(const Node& node, const Fields& fields) {
    const auto decimal =
        node.kind == yaml::Kind::kPlain ? detail::parse_decimal(node.text) : std::nullopt;
    const auto time_ns = decimal && decimal->decimals() <= kMsDecimals
                             ? detail::to_ticks(*decimal, kMsDecimals, detail::Round::kDown)
                             : std::nullopt;
    if (!time_ns || *time_ns > kLatestBegin_ns) {
      yaml::report_value(node, "begins_at_ms",
                         "milliseconds, such as 5400000.5, of at most two years and with at most "
                         "six decimals",
                         context_);
      return;
    }
    example_.begin_ns = *time_ns;
    if (fields.find("warm_up_ms") != nullptr) {
      example_.warm_up_ns = time(fields, "warm_up_ms");
    }
    for (std::size_t i = 0; i < example_.offsets_ns.size(); ++i) {
      if (const model::Timer* timer = stated_timer(i)) {
        example_.offsets_ns[i] =
            detail::offset_from(*time_ns, timer->offset.count(), timer->period.count());
      }
    }
  }

  /// Returns the timer, if it states its offset.
  const model::Timer* stated_timer(std::size_t callback) const {
    const auto* timer = std::get_if<model::Timer>(&application_.callbacks[callback].trigger);
    return timer != nullptr && timer->offset_stated ? timer : nullptr;
  }

  void read_draws(const Node& node) {
    const auto word = yaml::read_text(node, "draws", context_);
    example_.extremes = word == "extremes";
    if (word && !example_.extremes) {
      yaml::report_value(node, "draws", "extremes, or no such key", context_);
    }
  }

  /// Reads the machine, the offsets and the priorities.
  void read_schedule(const Fields& fields) {
    if (const Node* node = fields.find("overheads_ms")) {
      read_overheads(*node);
    }
    if (fields.find("delays_from_percent") != nullptr) {
      example_.lowest_delay_percent =
          static_cast<int>(integer(fields, "delays_from_percent", {0, 100}));
    }
    if (const Node* node = fields.require("offsets_ms", "offsets_ms: {scan: 2.5}")) {
      read_offsets(*node);
    }
    if (const Node* node = fields.find("never_runs")) {
      read_starving(*node);
    }
    if (const Node* node = fields.find("priorities")) {
      read_priorities(*node);
    }
    if (const char* const limit = keys_of(example_.limit).limit; fields.find(limit) != nullptr) {
      time(fields, limit);  // for the reader only
    }
  }

  void read_overheads(const Node& section) {
    const auto times = times_of(example_.overheads);
    std::vector<std::string_view> names;
    for (const OverheadTime& each : times) {
      names.emplace_back(each.name);
    }
    const Fields fields(section, "overheads_ms", names, context_);
    if (section.kind != yaml::Kind::kMapping) {
      return;
    }
    for (const OverheadTime& each : times) {
      if (fields.find(each.name) != nullptr) {
        *each.time = time(fields, each.name);
      }
    }
    for (Hop* hop : {&example_.overheads.near, &example_.overheads.far}) {
      if (hop->min <= hop->max) {
        continue;
      }
      context_.diagnostics.report(section.at,
                                  "the least latency of a message is above its greatest",
                                  "hop_least <= hop and far_hop_least <= far_hop");
    }
  }

  /// Reports a counter-example of an application with another name.
  bool is_of_application(const Fields& fields) {
    const Node* const node = fields.require("application", "application: robot");
    const auto name =
        node == nullptr ? std::nullopt : yaml::read_text(*node, "application", context_);
    if (!name || *name == application_.name) {
      return true;
    }
    context_.diagnostics.report(
        node->at, "this is a counter-example of application " + yaml::in_quotes(*name),
        "one of application " + yaml::in_quotes(application_.name));
    return false;
  }

  /// Reads which limit is exceeded from the key of the time that exceeds it.
  void read_limit(const Fields& fields) {
    const Node* only = fields.find(keys_of(Limit::kDeadline).time);
    for (const Limit limit : {Limit::kReaction, Limit::kAge}) {
      const Node* const node = fields.find(keys_of(limit).time);
      if (node == nullptr) {
        continue;
      }
      if (only != nullptr) {
        context_.diagnostics.report(node->at, "the counter-example states two times",
                                    "one of response_ms, reaction_ms and age_ms");
      }
      only = node;
      example_.limit = limit;
    }
  }

  void read_names(const Fields& fields) {
    if (const Node* node = fields.require("executor", "executor: preemptive")) {
      const auto name = yaml::read_text(*node, "executor", context_);
      try {
        example_.executor = name ? model::parse_executor(*name) : example_.executor;
      } catch (const std::invalid_argument& error) {
        context_.diagnostics.report(node->at, error.what(), "an executor of this version");
      }
    }
    if (const Node* node = fields.require("chain", "chain: obstacle")) {
      const bool is_cause_effect = example_.limit != Limit::kDeadline;
      NameIndex chains(is_cause_effect ? "cause-effect chain" : "chain", "chains");
      const auto add = [&](const auto& all) {
        for (const auto& chain : all) {
          chains.add(chain.id, {}, context_);
        }
      };
      is_cause_effect ? add(application_.cause_effect_chains) : add(application_.chains);
      const auto name = yaml::read_text(*node, "chain", context_);
      const std::size_t index = name ? chains.resolve(*name, node->at, context_) : kUnknown;
      if (index != kUnknown) {
        example_.chain = index;
      }
    }
  }

  void read_starving(const Node& node) {
    const NameIndex callbacks = index_of_callbacks(application_, context_);
    const auto name = yaml::read_text(node, "never_runs", context_);
    const std::size_t index = name ? callbacks.resolve(*name, node.at, context_) : kUnknown;
    if (example_.limit != Limit::kDeadline) {
      yaml::report_value(node, "never_runs", "no such key beside reaction_ms or age_ms", context_);
      return;
    }
    if (index == kUnknown || example_.chain >= application_.chains.size()) {
      return;  // reported
    }
    const model::Chain& chain = application_.chains[example_.chain];
    if (std::ranges::find(chain.callbacks, index) == chain.callbacks.end()) {
      yaml::report_value(node, "never_runs", "a callback of chain " + yaml::in_quotes(chain.id),
                         context_);
      return;
    }
    example_.never_runs = index;
  }

  void read_offsets(const Node& section) {
    read_mapping(
        section, "offsets_ms", application_, context_,
        [this](std::size_t callback, const Node& key, const Node& value) {
          if (application_.callbacks[callback].takes_messages()) {
            yaml::report_value(key, "a callback with an offset", "a timer or an event", context_);
            return;
          }
          const auto offset =
              yaml::read_milliseconds(value, "offset", yaml::Zero::kAllowed, context_);
          if (offset && stated_timer(callback) != nullptr &&
              example_.offsets_ns[callback] != offset->count()) {
            yaml::report_value(value, "offset",
                               in_units(example_.offsets_ns[callback], kMsDecimals) +
                                   (example_.begin_ns > 0
                                        ? ", the first release after begins_at_ms by the offset "
                                          "that the application states"
                                        : ", the offset that the application states (if that has "
                                          "changed: rclrt analyze --counter-example)"),
                               context_);
          } else if (offset) {
            example_.offsets_ns[callback] = offset->count();
          }
        });
  }

  void read_priorities(const Node& section) {
    read_mapping(section, "priorities", application_, context_,
                 [this](std::size_t callback, const Node&, const Node& value) {
                   const auto priority =
                       yaml::read_integer(value, "priority", {0, 1'000'000}, context_);
                   if (priority) {
                     example_.priorities[callback] = static_cast<int>(*priority);
                   }
                 });
  }

  const Application& application_;
  Context& context_;
  CounterExample example_;
};

}  // namespace

CounterExampleResult parse_counter_example(std::string_view text, const Application& application) {
  Context context;
  CounterExampleResult result;
  const auto root = yaml::read_yaml(text, context.diagnostics);
  if (root && !model::report_other_kind(*root, model::FileKind::kCounterExample, context)) {
    CounterExample example = Reader(application, context).read(*root);
    if (context.diagnostics.empty()) {
      result.example = std::move(example);
    }
  }
  result.diagnostics = context.diagnostics.take();
  return result;
}

CounterExample load_counter_example(const std::filesystem::path& file,
                                    const Application& application) {
  CounterExampleResult result =
      parse_counter_example(yaml::read_file(file, "counter-example"), application);
  if (!result.example) {
    throw yaml::FileError(file, result.diagnostics);
  }
  return std::move(*result.example);
}

}  // namespace rclrt::analysis
