// SPDX-License-Identifier: Apache-2.0
/// The section "chains".
#include <set>
#include <utility>

#include "limits.hpp"
#include "reader.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {
namespace {

void read_path(const YamlNode& node, Chain& chain, ChainSource& source, Reading& reading) {
  std::set<std::size_t> seen;
  for (const YamlNode& item : read_filled_list(node, "callbacks", reading.context)) {
    const auto id = read_text(item, "callback", reading.context);
    const std::size_t index =
        id ? reading.callbacks.resolve(*id, item.at, reading.context) : kUnknown;
    if (index != kUnknown && !seen.insert(index).second) {
      reading.context.diagnostics.report(
          item.at,
          "chain " + in_quotes(chain.id) + " lists the callback " + in_quotes(*id) + " twice",
          "each callback once");
    }
    chain.callbacks.push_back(index);
    source.callbacks.push_back(item.at);
  }
}

Nanoseconds read_deadline(const Fields& fields, const Chain& chain, Reading& reading) {
  if (const YamlNode* node = fields.find("deadline_ms")) {
    return read_milliseconds(*node, "deadline_ms", Zero::kRefused, reading.context)
        .value_or(Nanoseconds::zero());
  }
  const bool starts = !chain.callbacks.empty() && chain.callbacks.front() != kUnknown;
  return starts ? reading.draft.application.period(chain) : Nanoseconds::zero();
}

}  // namespace

void read_chains(const YamlNode* section, Reading& reading) {
  if (section == nullptr) {
    return;
  }
  Context& context = reading.context;
  NameIndex chains("chain", "chains");
  for (const YamlNode& item : read_filled_list(*section, "chains", context)) {
    const Fields fields(item, "chain", {"id", "callbacks", "priority", "deadline_ms"}, context);
    Chain chain;
    ChainSource source;
    chain.id = read_declared_name(fields, "id", "id: obstacle", chains, context);
    if (const YamlNode* node = fields.require("callbacks", "callbacks: [scan, brake]")) {
      read_path(*node, chain, source, reading);
    }
    if (const YamlNode* node = fields.find("priority")) {
      chain.priority =
          static_cast<int>(read_integer(*node, "priority", kPriorities, context).value_or(0));
    }
    chain.deadline = read_deadline(fields, chain, reading);
    reading.draft.application.chains.push_back(std::move(chain));
    reading.draft.chains.push_back(std::move(source));
  }
}

}  // namespace rclrt::model::detail
