// SPDX-License-Identifier: Apache-2.0
// The promises of the parser for any bytes, for the fuzzers.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "rclrt/model/parse.hpp"

namespace rclrt::model::test {

inline std::string broken_diagnostics(std::string_view text, const ParseResult& result) {
  // libyaml ends a line at a lone CR and at NEL, LS and PS too, so bytes bound the number of lines.
  const std::size_t most_lines = text.size() + 1;
  const Diagnostic* previous = nullptr;
  for (const Diagnostic& diagnostic : result.diagnostics) {
    if (diagnostic.line < 1 || diagnostic.line > most_lines) {
      return "a line outside of the text";
    }
    if (diagnostic.column < 1 || diagnostic.column > text.size() + 1) {
      return "a column outside";
    }
    if (diagnostic.message.find("; expected ") == std::string::npos) {
      return "nothing expected";
    }
    if (diagnostic.message.find('\n') != std::string::npos) {
      return "a message of several lines";
    }
    if (previous != nullptr &&
        std::tie(previous->line, previous->column) > std::tie(diagnostic.line, diagnostic.column)) {
      return "diagnostics out of order";
    }
    previous = &diagnostic;
  }
  return "";
}

inline std::string broken_application(const Application& app) {
  if (app.executors.empty() || app.nodes.empty() || app.callbacks.empty() || app.chains.empty()) {
    return "an empty section";
  }
  for (const Node& node : app.nodes) {
    if (node.executor >= app.executors.size()) {
      return "a node without an executor";
    }
  }
  std::set<std::string> published;
  for (const Callback& callback : app.callbacks) {
    if (callback.node >= app.nodes.size()) {
      return "a callback without a node";
    }
    const std::size_t executor = callback.executor.value_or(app.nodes[callback.node].executor);
    if (executor >= app.executors.size()) {
      return "a callback without an executor";
    }
    if (app.executors[executor].process !=
        app.executors[app.nodes[callback.node].executor].process) {
      return "a callback in another process than its node";
    }
    published.insert(callback.publishes.begin(), callback.publishes.end());
  }
  for (const Callback& callback : app.callbacks) {
    for (const std::string& topic : inputs(callback)) {
      if (!published.contains(topic)) {
        return "an input without a publisher";
      }
    }
  }
  for (const Chain& chain : app.chains) {
    if (chain.callbacks.empty() || chain.deadline <= Nanoseconds::zero()) {
      return "an empty chain";
    }
    if (app.period(chain) <= Nanoseconds::zero()) {
      return "a chain that no timer starts";
    }
    for (std::size_t i = 1; i < chain.callbacks.size(); ++i) {
      const auto next = app.successors(chain.callbacks[i - 1]);
      if (!std::binary_search(next.begin(), next.end(), chain.callbacks[i])) {
        return "no path";
      }
    }
    const auto entries = app.entries(chain);
    if (std::any_of(entries.begin() + 1, entries.end(),
                    [](const auto& inputs) { return inputs.empty(); })) {
      return "a chain against the routes";
    }
  }
  for (const double rate : app.rates()) {
    if (!(rate > 0.0)) {
      return "a callback that never runs";
    }
  }
  if (!(app.utilisation() >= 0.0) || app.hyperperiod() <= Nanoseconds::zero()) {
    return "no numbers";
  }
  return "";
}

/// Returns an empty text when the result keeps the promises, otherwise the broken promise.
inline std::string broken_promise(std::string_view text, const ParseResult& result) {
  if (result.application.has_value() != result.diagnostics.empty()) {
    return "neither an application nor a diagnostic, or both";
  }
  if (result.application) {
    return broken_application(*result.application);
  }
  return broken_diagnostics(text, result);
}

}  // namespace rclrt::model::test
