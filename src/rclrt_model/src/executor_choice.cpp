// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/executor_choice.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
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

std::uint64_t number(std::string_view option, std::string_view text, std::uint64_t lowest,
                     std::uint64_t highest) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < lowest ||
      value > highest) {
    throw std::invalid_argument("executor option " + yaml::in_quotes(option) +
                                ": expected a whole number from " + std::to_string(lowest) +
                                " to " + std::to_string(highest));
  }
  return value;
}

[[noreturn]] void refuse_option(ExecutorKind kind, std::string_view option) {
  const std::string executor = "executor " + std::string(traits(kind).name);
  const std::string unknown = " has no option " + yaml::in_quotes(option) + "; expected ";
  switch (kind) {
    case ExecutorKind::kWaitSet:
      throw std::invalid_argument(
          executor + unknown + "threads=N, order=registration, order=arbitrary, seed=N or static");
    case ExecutorKind::kEvents:
      throw std::invalid_argument(executor + unknown + "timers_thread");
    case ExecutorKind::kStaticOrder:
      throw std::invalid_argument(executor + unknown +
                                  "trigger=any, trigger=all, trigger_on=CALLBACK or let");
    default:
      throw std::invalid_argument(executor + " has no options; expected its name alone, without " +
                                  yaml::in_quotes(option));
  }
}

bool read_static_order(std::string_view option, std::string_view name, std::string_view value,
                       ExecutorChoice& choice) {
  if (option == "let") {
    choice.logical_execution_time = true;
  } else if (option == "trigger=all" || option == "trigger=any") {
    choice.trigger = option == "trigger=all" ? SetTrigger::kAll : SetTrigger::kAny;
  } else if (name == "trigger_on" && detail::is_token(value)) {
    choice.trigger = SetTrigger::kCallback;
    choice.trigger_callback = value;
  } else {
    return false;
  }
  return true;
}

void read_option(std::string_view option, std::string_view name, std::string_view value,
                 Stated& stated) {
  ExecutorChoice& choice = stated.choice;
  if (choice.kind == ExecutorKind::kStaticOrder) {
    if (!read_static_order(option, name, value, choice)) {
      refuse_option(choice.kind, option);
    }
  } else if (choice.kind == ExecutorKind::kEvents && option == "timers_thread") {
    choice.timers_thread = true;
  } else if (choice.kind == ExecutorKind::kWaitSet && option == "static") {
    choice.subscriptions_first = true;
  } else if (choice.kind == ExecutorKind::kWaitSet && name == "threads") {
    choice.threads = static_cast<unsigned>(number(option, value, 1, ExecutorChoice::kMaxThreads));
  } else if (choice.kind == ExecutorKind::kWaitSet && name == "seed") {
    stated.seed = number(option, value, 0, std::numeric_limits<std::uint64_t>::max());
  } else if (choice.kind == ExecutorKind::kWaitSet &&
             (option == "order=arbitrary" || option == "order=registration")) {
    stated.arbitrary = option == "order=arbitrary";
  } else {
    refuse_option(choice.kind, option);
  }
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
  // Insert the options before the parentheses of the kind's label, because tables shorten labels at
  // the end.
  std::string label(traits(choice.kind).label);
  return label.insert(std::min(label.find(" ("), label.size()), options);
}

ExecutorChoice parse_executor(std::string_view text) {
  std::string_view rest = text.substr(0, text.find(':'));
  const auto kind = executor_kind_of(rest);
  if (!kind) {
    throw std::invalid_argument("unknown executor " + yaml::in_quotes(rest) + "; expected one of " +
                                executor_names());
  }
  Stated stated;
  stated.choice = *kind;
  std::set<std::string_view> seen;
  for (std::size_t from = rest.size(); from < text.size();) {
    rest = text.substr(from + 1, text.find(':', from + 1) - from - 1);
    from += 1 + rest.size();
    const std::string_view name = rest.substr(0, rest.find('='));
    const std::string_view value = rest.substr(std::min(rest.size(), name.size() + 1));
    read_option(rest, name, value, stated);
    if (!seen.insert(name).second) {
      throw std::invalid_argument("executor option " + yaml::in_quotes(name) +
                                  " is given twice; expected it once");
    }
  }
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
