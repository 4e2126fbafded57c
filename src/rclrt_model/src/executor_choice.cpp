// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/executor_choice.hpp"

#include <algorithm>
#include <rclrt/text/number.hpp>
#include <set>
#include <span>
#include <stdexcept>

#include "names.hpp"
#include "rclrt/yaml/diagnostics.hpp"

namespace rclrt::model {

namespace {

/// The stated options, before they are combined.
struct Stated {
  ExecutorChoice choice;
  bool arbitrary = false;
  std::optional<std::uint64_t> seed;
};

/// Returns the whole number in `text`, which is the value of the option `given`.
std::uint64_t number(std::string_view given, std::string_view text, const ExecutorOption& option) {
  const auto value = text::parse_number<std::uint64_t>(text, {option.lowest, option.highest});
  if (!value) {
    throw std::invalid_argument("executor option " + yaml::in_quotes(given) +
                                ": expected a whole number from " + std::to_string(option.lowest) +
                                " to " + std::to_string(option.highest));
  }
  return *value;
}

/// Returns the texts of the options, separated by commas and "or".
std::string list_of(std::span<const ExecutorOption> options) {
  std::string list;
  for (const ExecutorOption& option : options) {
    const bool is_last = &option == &options.back();
    list += (list.empty() ? "" : is_last ? " or " : ", ") + std::string(option.text);
  }
  return list;
}

[[noreturn]] void refuse_option(const ExecutorTraits& kind, std::string_view option) {
  const std::string executor = "executor " + std::string(kind.name);
  if (kind.options.empty()) {
    throw std::invalid_argument(executor + " has no options; expected its name alone, without " +
                                yaml::in_quotes(option));
  }
  throw std::invalid_argument(executor + " has no option " + yaml::in_quotes(option) +
                              "; expected " + list_of(kind.options));
}

/// An option as it is written in a name.
struct GivenOption {
  std::string_view text;
  std::string_view name = text.substr(0, text.find('='));
  std::string_view value = text.substr(std::min(text.size(), name.size() + 1));

  /// Returns whether it is an option of the registry, with any number or id as its value.
  bool is(const ExecutorOption& option) const {
    return option.value() == "N" || option.value() == "CALLBACK" ? name == option.name()
                                                                 : text == option.text;
  }
};

/// Calls `visit` with each option of an executor's text, which has the form KIND:OPTION:OPTION.
template <typename Visit>
void for_each_option(std::string_view text, const Visit& visit) {
  for (std::size_t from = text.find(':'); from < text.size();) {
    const std::size_t end = std::min(text.find(':', from + 1), text.size());
    visit(GivenOption{text.substr(from + 1, end - from - 1)});
    from = end;
  }
}

/// Sets what the option means.
void apply(const ExecutorOption& option, const GivenOption& given, Stated& stated) {
  ExecutorChoice& choice = stated.choice;
  if (option.text == "threads=N") {
    choice.threads = static_cast<unsigned>(number(given.text, given.value, option));
  } else if (option.text == "seed=N") {
    stated.seed = number(given.text, given.value, option);
  } else if (option.text == "static") {
    choice.subscriptions_first = true;
  } else if (option.name() == "order") {
    stated.arbitrary = option.value() == "arbitrary";
  } else if (option.text == "timers_thread") {
    choice.timers_thread = true;
  } else if (option.text == "let") {
    choice.logical_execution_time = true;
  } else if (option.name() == "trigger") {
    choice.trigger = option.value() == "all" ? SetTrigger::kAll : SetTrigger::kAny;
  } else if (option.text == "trigger_on=CALLBACK") {
    choice.trigger = SetTrigger::kCallback;
    choice.trigger_callback = given.value;
  } else {
    throw std::logic_error("the option " + std::string(option.text) + " has no meaning");
  }
}

void read_option(const GivenOption& given, Stated& stated) {
  const ExecutorTraits& kind = traits(stated.choice);
  const auto found = std::ranges::find_if(
      kind.options, [&](const ExecutorOption& option) { return given.is(option); });
  if (found == kind.options.end() ||
      (found->value() == "CALLBACK" && !detail::is_token(given.value))) {
    refuse_option(kind, given.text);
  }
  apply(*found, given, stated);
}

}  // namespace

std::string name_of(const ExecutorChoice& choice) {
  std::string name(traits(choice.kind).name);
  if (choice.threads != 1) {
    name += ":threads=" + std::to_string(choice.threads);
  }
  if (choice.subscriptions_first) {
    name += ":static";
  }
  if (choice.order_seed) {
    name += ":order=arbitrary";
    if (*choice.order_seed != 0) {
      name += ":seed=" + std::to_string(*choice.order_seed);
    }
  }
  name += choice.timers_thread ? ":timers_thread" : "";
  if (choice.trigger != SetTrigger::kAny) {
    name += choice.trigger == SetTrigger::kAll ? ":trigger=all"
                                               : ":trigger_on=" + choice.trigger_callback;
  }
  return name + (choice.logical_execution_time ? ":let" : "");
}

std::string label_of(const ExecutorChoice& choice) {
  std::string options;
  if (choice.threads != 1) {
    options += ", " + std::to_string(choice.threads) + " threads";
  }
  options += choice.subscriptions_first ? ", static" : "";
  if (choice.order_seed) {
    options += ", order " + std::to_string(*choice.order_seed);
  }
  options += choice.timers_thread ? ", timers apart" : "";
  if (choice.trigger != SetTrigger::kAny) {
    options += choice.trigger == SetTrigger::kAll ? ", trigger all"
                                                  : ", trigger " + choice.trigger_callback;
  }
  options += choice.logical_execution_time ? ", LET" : "";
  // Insert the options before the parentheses at the end of the kind's label: tables cut off the
  // end of long labels.
  std::string label(traits(choice.kind).label);
  return label.insert(std::min(label.find(" ("), label.size()), options);
}

ExecutorChoice parse_executor(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto kind = executor_kind_of(name);
  if (!kind) {
    throw std::invalid_argument("unknown executor " + yaml::in_quotes(name) + "; expected one of " +
                                executor_names());
  }
  Stated stated;
  stated.choice = *kind;
  std::set<std::string_view> seen;
  for_each_option(text, [&](const GivenOption& given) {
    read_option(given, stated);
    if (!seen.insert(given.name).second) {
      throw std::invalid_argument("executor option " + yaml::in_quotes(given.name) +
                                  " is given twice; expected it once");
    }
  });
  if (seen.contains("trigger") && seen.contains("trigger_on")) {
    throw std::invalid_argument(
        "executor options 'trigger' and 'trigger_on' are both given; "
        "expected one of the two");
  }
  if (stated.seed && !stated.arbitrary) {
    throw std::invalid_argument("executor option 'seed' belongs to order=arbitrary; state both");
  }
  if (stated.choice.subscriptions_first && stated.choice.threads > 1) {
    throw std::invalid_argument(
        "executor option 'static' is of rclcpp's StaticSingleThreadedExecutor, which has one "
        "thread; state 'static' or 'threads'");
  }
  if (stated.arbitrary) {
    stated.choice.order_seed = stated.seed.value_or(0);
  }
  return stated.choice;
}

std::optional<std::string> why_no_bounds(const ExecutorChoice& choice) {
  std::optional<std::string> reason;
  for_each_option(name_of(choice), [&](const GivenOption& given) {
    for (const ExecutorOption& option : traits(choice).options) {
      if (!reason && !option.no_bounds.empty() && given.is(option)) {
        reason = option.no_bounds;
      }
    }
  });
  return reason;
}

std::optional<std::size_t> trigger_callback(const Application& application,
                                            const ExecutorChoice& choice) {
  if (choice.trigger != SetTrigger::kCallback) {
    return std::nullopt;
  }
  const auto& callbacks = application.callbacks;
  const auto found = std::ranges::find(callbacks, choice.trigger_callback, &Callback::id);
  if (found == callbacks.end()) {
    throw std::invalid_argument("executor option trigger_on: the application has no callback " +
                                yaml::in_quotes(choice.trigger_callback) +
                                "; expected one of its ids");
  }
  return static_cast<std::size_t>(found - callbacks.begin());
}

}  // namespace rclrt::model
