// SPDX-License-Identifier: Apache-2.0
// Values that callbacks store and others read, in a traced model.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model_builder.hpp"
#include "rclrt/model/tool_interfaces.hpp"

namespace rclrt::trace {

namespace {

/// The most paths through stored values that are examined.
constexpr std::size_t kMostPaths = 2'000;

/// Returns whether the model accepts segments of this chain, which get a number.
bool may_have_segments(const std::string& id) { return is_token(id + "_1000"); }

}  // namespace

/// Returns whether a callback reads what another one stores, or its newest message.
bool ModelBuilder::reads(std::size_t callback, std::size_t of) const {
  const model::Callback& reader = application_.callbacks[callback];
  const model::Callback& writer = application_.callbacks[of];
  return std::ranges::find(reader.reads, writer.id) != reader.reads.end() ||
         model::sampled_topic(writer, reader);
}

/// Adds the topics of which callbacks take messages themselves.
void ModelBuilder::add_samples() {
  std::map<std::string, std::vector<std::size_t>> publishers;
  for (std::size_t i = 0; i < traced_of_.size(); ++i) {
    for (const std::string& topic : application_.callbacks[i].publishes) {
      publishers[topic].push_back(i);
    }
  }
  for (std::size_t i = 0; i < traced_of_.size(); ++i) {
    model::Callback& reader = application_.callbacks[i];
    const std::vector<std::string> taken = model::inputs(reader);
    for (const std::uint32_t number : callback_at(traced_of_[i]).samples) {
      const std::string& name = topic(number);
      const std::vector<std::size_t>& from = publishers[name];
      if (model::is_tool_topic(system_.topic(number)) ||
          std::ranges::find(taken, name) != taken.end()) {
        continue;
      }
      const bool elsewhere = system_.is_published_elsewhere(number);
      if (from.size() == 1 && from.front() != i && !elsewhere) {
        reader.samples.push_back(name);
        is_sampled_.insert(from.front());
      } else {
        model_.notes.push_back("callback '" + reader.id + "' takes messages of topic '" + name +
                               "' itself, which " +
                               (from.empty() ? "no callback of the trace publishes"
                                : elsewhere  ? "also messages from outside of callbacks have"
                                             : "no single other callback publishes") +
                               ": no chain leads on");
      }
    }
  }
}

/// Returns the callbacks that publish on the topics of a link's publishers, in their nodes.
std::set<std::size_t> ModelBuilder::linked_readers(const MessageLink& link) const {
  const auto process = [&](std::int64_t number) {
    return lives_.process_of[static_cast<std::size_t>(number)];
  };
  const auto is_node = [&](std::uint32_t stated, std::uint32_t node) {
    return stated == kNone || node == kNone || lives_.node_of[stated] == lives_.node_of[node];
  };
  std::set<std::size_t> readers;
  for (std::size_t i = 0; i < traced_of_.size(); ++i) {
    const TracedCallback& traced = callback_at(traced_of_[i]);
    if (process(traced.process) == process(link.process) &&
        std::ranges::any_of(link.outputs, [&](const auto& output) {
          return is_node(output.first, traced.node) &&
                 std::ranges::any_of(traced.outputs, [&](const auto& published) {
                   return published.second == output.second;
                 });
        })) {
      readers.insert(i);
    }
  }
  return readers;
}

/// Adds what the callback stores for the readers, except where messages lead from the one to the
/// other anyway.
void ModelBuilder::add_variable(std::size_t writer, const std::set<std::size_t>& readers) {
  model::Callback& stores = application_.callbacks[writer];
  const std::vector<std::size_t> next = application_.successors(writer);
  for (const std::size_t reader : readers) {
    const bool by_message = reader == writer || std::ranges::find(next, reader) != next.end();
    if (!by_message && !reads(reader, writer)) {
      application_.callbacks[reader].reads.push_back(stores.id);
      stores.stores = {stores.id};
    }
  }
}

/// Adds the values that rclrt's events show exactly.
void ModelBuilder::add_stored_values() {
  const auto in_model = [&](std::uint32_t traced) {
    return model_.callback_of[lives_.callback_of[traced]];
  };
  std::map<std::size_t, std::set<std::size_t>> readers_of;  // by writer
  for (const StoredValue& value : system_.stored_values()) {
    std::set<std::size_t> readers;
    for (const std::uint32_t traced : value.readers) {
      if (const std::uint32_t index = in_model(traced); index != kNone) {
        readers.insert(index);
      }
    }
    for (const std::uint32_t traced : value.writers) {
      if (const std::uint32_t index = in_model(traced); index != kNone) {
        known_writers_.insert(index);
        readers_of[index].insert(readers.begin(), readers.end());
      }
    }
  }
  for (const auto& [writer, readers] : readers_of) {
    add_variable(writer, readers);
  }
}

void ModelBuilder::add_variables() {
  add_samples();
  add_stored_values();
  for (const MessageLink& link : system_.links()) {
    const std::set<std::size_t> readers = linked_readers(link);
    for (const std::uint32_t traced : link.callbacks) {
      const std::uint32_t index = model_.callback_of[lives_.callback_of[traced]];
      if (index == kNone) {
        continue;  // it never ran
      }
      if (readers.empty()) {
        add_note_once("callback '" + application_.callbacks[index].id +
                      "' is linked to topics on which no callback of the trace publishes: no chain "
                      "leads on");
      }
      add_variable(index, readers);
    }
  }
  add_equal_stamps();
}

void ModelBuilder::add_note_once(std::string note) {
  if (std::ranges::find(model_.notes, note) == model_.notes.end()) {
    model_.notes.push_back(std::move(note));
  }
}

/// Adds the chains that end with each callback that stores a value, or of which another one reads
/// the newest message, and that triggers others, too.
void ModelBuilder::add_chains_to_variables() {
  std::set<std::vector<std::size_t>> ways;
  for (const model::Chain& chain : application_.chains) {
    for (std::size_t i = 0; i + 1 < chain.callbacks.size(); ++i) {
      if (!application_.callbacks[chain.callbacks[i]].stores.empty() ||
          is_sampled_.contains(chain.callbacks[i])) {
        ways.insert({chain.callbacks.begin(),
                     chain.callbacks.begin() + static_cast<std::ptrdiff_t>(i) + 1});
      }
    }
  }
  for (const std::vector<std::size_t>& way : ways) {
    add_chain(way);
  }
}

/// Adds a chain for each path from a timer or an event that reads no value and no newest message,
/// through stored values and newest messages.
void ModelBuilder::add_sampling_chains() {
  std::set<std::vector<std::size_t>> seen;
  for (std::size_t i = 0; i < application_.chains.size(); ++i) {
    const std::vector<std::size_t>& path = application_.chains[i].callbacks;
    const model::Callback& root = application_.callbacks[path.front()];
    if (root.reads.empty() && root.samples.empty()) {
      model::CauseEffectChain chain{.id = "", .callbacks = path, .segments = {{.chain = i}}};
      continue_sampling(chain, seen);
    }
  }
}

/// Continues the chain wherever a value leads, and adds it if none leads on. `seen` has the paths
/// that were examined: chains with the same end continue as one.
void ModelBuilder::continue_sampling(model::CauseEffectChain& chain,
                                     std::set<std::vector<std::size_t>>& seen) {
  if (!seen.insert(chain.callbacks).second) {
    return;
  }
  const std::size_t stores = chain.callbacks.back();
  bool leads_on = false;
  for (std::size_t i = 0; i < application_.chains.size(); ++i) {
    const std::vector<std::size_t>& path = application_.chains[i].callbacks;
    for (std::size_t entry = 0; entry < path.size(); ++entry) {
      const auto begin = path.begin() + static_cast<std::ptrdiff_t>(entry);
      const bool is_new = std::all_of(begin, path.end(), [&](std::size_t callback) {
        return std::ranges::find(chain.callbacks, callback) == chain.callbacks.end();
      });
      if (!reads(*begin, stores) || !is_new) {
        continue;
      }
      leads_on = true;
      if (seen.size() >= kMostPaths) {
        add_note_once("more than " + std::to_string(kMostPaths) +
                      " paths lead through stored values: chains are those of the first, state the "
                      "ones that matter");
        return;
      }
      const std::size_t length = chain.callbacks.size();
      chain.callbacks.insert(chain.callbacks.end(), begin, path.end());
      chain.segments.push_back({.chain = i, .entry = entry});
      continue_sampling(chain, seen);
      chain.segments.pop_back();
      chain.callbacks.resize(length);
    }
  }
  if (leads_on || chain.segments.size() < 2) {
    return;
  }
  const std::string name = application_.callbacks[chain.callbacks.front()].id + "_to_" +
                           application_.callbacks[chain.callbacks.back()].id;
  model::CauseEffectChain& added = application_.cause_effect_chains.emplace_back(chain);
  added.id = chain_names_.unique(may_have_segments(name) ? name : "path");
}

/// Returns the callbacks of a timer's node that take messages and publish nothing for them, if the
/// timer publishes and is not known to read what they took. Leaves out callbacks that store values
/// of which the trace has each read, and those that take the timer's own messages. Returns none for
/// other callbacks.
std::vector<std::size_t> ModelBuilder::may_read(std::size_t timer) const {
  const TracedCallback& reader = callback_at(traced_of_[timer]);
  std::vector<std::size_t> result;
  if (reader.kind != TriggerKind::kTimer || reader.outputs.empty() || reader.node == kNone) {
    return result;
  }
  const std::vector<std::size_t> next = application_.successors(timer);
  for (std::size_t i = 0; i < traced_of_.size(); ++i) {
    const TracedCallback& taker = callback_at(traced_of_[i]);
    if (std::ranges::find(next, i) == next.end() && taker.kind == TriggerKind::kSubscription &&
        taker.node == reader.node && taker.outputs.empty() && !reads(timer, i) &&
        !known_writers_.contains(i)) {
      result.push_back(i);
    }
  }
  return result;
}

/// Proposes a chain from a callback's chain to that of a timer that may read what it took.
void ModelBuilder::propose_chain(std::size_t taker, std::size_t timer) {
  const auto ids = [&](const model::Chain& chain) {
    std::string text;
    for (const std::size_t each : chain.callbacks) {
      text += (text.empty() ? "" : ", ") + application_.callbacks[each].id;
    }
    return text;
  };
  const auto from = std::ranges::find_if(application_.chains, [&](const model::Chain& chain) {
    return chain.callbacks.back() == taker;
  });
  const auto to = std::ranges::find_if(application_.chains, [&](const model::Chain& chain) {
    return chain.callbacks.front() == timer;
  });
  if (from != application_.chains.end() && to != application_.chains.end()) {
    const std::string id = from->id + "_and_" + to->id;
    model_.proposals.push_back(
        "  and to the chains {id: " + chain_names_.unique(may_have_segments(id) ? id : "path") +
        ", callbacks: [" + ids(*from) + ", " + ids(*to) + "]}");
  }
}

void ModelBuilder::propose_variables() {
  std::vector<std::string>& lines = model_.proposals;
  std::set<std::size_t> stores;  // callbacks for which `stores` was proposed
  for (std::size_t timer = 0; timer < traced_of_.size(); ++timer) {
    const std::vector<std::size_t> takers = may_read(timer);
    if (takers.empty()) {
      continue;
    }
    if (lines.empty()) {
      lines.emplace_back(
          "The trace does not show whether these timers read what their nodes took:");
    }
    const model::Callback& reader = application_.callbacks[timer];
    std::string read;  // what it reads already, too: a key has one list
    for (const std::string& variable : reader.reads) {
      read += (read.empty() ? "" : ", ") + variable;
    }
    for (const std::string& topic : reader.samples) {
      read += (read.empty() ? "" : ", ") + ("{topic: " + topic + "}");
    }
    for (const std::size_t taker : takers) {
      read += (read.empty() ? "" : ", ") + application_.callbacks[taker].id;
    }
    lines.push_back("if it does, " + reader.id + " has 'reads: [" + read + "]'");
    for (const std::size_t taker : takers) {
      const model::Callback& writer = application_.callbacks[taker];
      if (writer.stores.empty() && stores.insert(taker).second) {
        lines.push_back("  and " + writer.id + " has 'stores: [" + writer.id + "]'");
      }
      propose_chain(taker, timer);
    }
  }
}

}  // namespace rclrt::trace
