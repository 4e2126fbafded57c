// SPDX-License-Identifier: Apache-2.0
/// The section "chains".
#include <algorithm>
#include <set>
#include <utility>

#include "limits.hpp"
#include "reader.hpp"
#include "segments.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {
namespace {

void read_path(const YamlNode& node, ChainDraft& draft, Reading& reading) {
  std::set<std::size_t> seen;
  for (const YamlNode& item : read_filled_list(node, "callbacks", reading.context)) {
    const auto id = read_text(item, "callback", reading.context);
    const std::size_t index =
        id ? reading.callbacks.resolve(*id, item.at, reading.context) : kUnknown;
    if (index != kUnknown && !seen.insert(index).second) {
      reading.context.diagnostics.report(
          item.at,
          "chain " + in_quotes(draft.chain.id) + " lists the callback " + in_quotes(*id) + " twice",
          "each callback once");
    }
    draft.chain.callbacks.push_back(index);
    draft.source.callbacks.push_back(item.at);
  }
}

void read_deadline(const Fields& fields, ChainDraft& draft, Reading& reading) {
  Chain& chain = draft.chain;
  const bool starts = !chain.callbacks.empty() && chain.callbacks.front() != kUnknown;
  chain.deadline = starts ? reading.draft.application.period(chain) : Nanoseconds::zero();
  const YamlNode* const node = fields.find("deadline_ms");
  if (node == nullptr) {
    return;
  }
  chain.deadline = read_milliseconds(*node, "deadline_ms", Zero::kRefused, reading.context)
                       .value_or(Nanoseconds::zero());
  if (draft.samples) {
    reading.context.diagnostics.report(
        node->at, "chain " + in_quotes(chain.id) + " samples a variable, and has a 'deadline_ms'",
        "'max_reaction_ms' (from something that happens to the first output that depends on it) "
        "or 'max_age_ms' (of the data, at the end of the chain)");
  }
}

void read_logical_execution(const Fields& fields, ChainDraft& draft, Reading& reading) {
  const YamlNode* const node = fields.find("let");
  if (node == nullptr) {
    return;
  }
  draft.chain.logical_execution =
      read_choice<bool>(*node, "let", {{"true", true}, {"false", false}}, reading.context)
          .value_or(false);
  if (draft.samples && draft.chain.logical_execution) {
    reading.context.diagnostics.report(
        node->at, "chain " + in_quotes(draft.chain.id) + " samples a variable, and states 'let'",
        "'let: true' in the chains that are its segments, each with a 'deadline_ms'");
  }
}

/// Reads the limits of the reaction time and of the data age.
void read_limits(const Fields& fields, ChainDraft& draft, Reading& reading) {
  const auto read = [&](const char* key) -> std::optional<Nanoseconds> {
    const YamlNode* const node = fields.find(key);
    return node != nullptr ? read_milliseconds(*node, key, Zero::kRefused, reading.context)
                           : std::nullopt;
  };
  draft.max_reaction = read("max_reaction_ms");
  draft.max_age = read("max_age_ms");
}

ChainDraft read_chain(const YamlNode& item, NameIndex& chains, const Segments& segments,
                      Reading& reading) {
  Context& context = reading.context;
  const Fields fields(
      item, "chain",
      {"id", "callbacks", "priority", "deadline_ms", "let", "max_reaction_ms", "max_age_ms"},
      context);
  ChainDraft draft;
  draft.at = item.at;
  draft.chain.id = read_declared_name(fields, "id", "id: obstacle", chains, context);
  if (const YamlNode* node = fields.require("callbacks", "callbacks: [scan, brake]")) {
    read_path(*node, draft, reading);
  }
  draft.samples = segments.samples(draft.chain);
  if (const YamlNode* node = fields.find("priority")) {
    draft.priority = node->at;
    draft.chain.priority =
        static_cast<int>(read_integer(*node, "priority", kPriorities, context).value_or(0));
  }
  read_deadline(fields, draft, reading);
  read_logical_execution(fields, draft, reading);
  read_limits(fields, draft, reading);
  return draft;
}

}  // namespace

void read_chains(const YamlNode* section, Reading& reading) {
  if (section == nullptr) {
    return;
  }
  NameIndex chains("chain", "chains");
  Segments segments(reading);
  std::vector<ChainDraft> sampling;  // their segments may be chains that are stated further below
  for (const YamlNode& item : read_filled_list(*section, "chains", reading.context)) {
    ChainDraft draft = read_chain(item, chains, segments, reading);
    if (draft.samples) {
      sampling.push_back(std::move(draft));
      continue;
    }
    if (draft.max_reaction || draft.max_age) {
      reading.draft.application.cause_effect_chains.push_back(
          {.id = draft.chain.id,
           .callbacks = draft.chain.callbacks,
           .segments = {{.chain = reading.draft.application.chains.size()}},
           .max_reaction = draft.max_reaction,
           .max_age = draft.max_age});
    }
    segments.add_chain(std::move(draft.chain), std::move(draft.source));
  }
  for (const ChainDraft& draft : sampling) {
    segments.add_cause_effect_chain(draft, chains);
  }
}

}  // namespace rclrt::model::detail
