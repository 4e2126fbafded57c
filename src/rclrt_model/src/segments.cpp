// SPDX-License-Identifier: Apache-2.0
#include "segments.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>

#include "graph.hpp"
#include "names.hpp"
#include "rclrt/model/no_deadline.hpp"

namespace rclrt::model::detail {

Segments::Segments(Reading& reading) : reading_(reading) {
  const auto& callbacks = reading.draft.application.callbacks;
  std::map<std::string_view, std::vector<std::size_t>> writers;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    for (const std::string& variable : callbacks[i].stores) {
      writers[variable].push_back(i);
    }
  }
  std::map<std::string_view, std::vector<std::size_t>> publishers;  // of sampled topics
  for (const Callback& callback : callbacks) {
    for (const std::string& topic : callback.samples) {
      publishers.try_emplace(topic);
    }
  }
  if (writers.empty() && publishers.empty()) {
    return;
  }
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    for (const std::string& topic : callbacks[i].publishes) {
      if (const auto found = publishers.find(topic); found != publishers.end()) {
        found->second.push_back(i);
      }
    }
  }
  const Graph graph(reading.draft.application);
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    for (const std::string& variable : callbacks[i].reads) {
      const auto found = writers.find(variable);
      if (found != writers.end() && !graph.has_edge(found->second.front(), i)) {
        sampled_.emplace(found->second.front(), i);
      }
    }
    for (const std::string& topic : callbacks[i].samples) {
      for (const std::size_t publisher : publishers.at(topic)) {
        if (!graph.has_edge(publisher, i)) {
          sampled_.emplace(publisher, i);
        }
      }
    }
  }
}

bool Segments::is_sampled(std::size_t from, std::size_t to) const {
  return sampled_.contains({from, to});
}

bool Segments::samples(const Chain& chain) const {
  return std::ranges::adjacent_find(chain.callbacks, [&](std::size_t from, std::size_t to) {
           return is_sampled(from, to);
         }) != chain.callbacks.end();
}

std::size_t Segments::add_chain(Chain chain, ChainSource source) {
  auto& chains = reading_.draft.application.chains;
  by_path_.emplace(chain.callbacks, chains.size());
  if (!chain.callbacks.empty()) {
    by_last_[chain.callbacks.back()].push_back(chains.size());
  }
  chains.push_back(std::move(chain));
  reading_.draft.chains.push_back(std::move(source));
  return chains.size() - 1;
}

std::optional<Segment> Segments::chain_that_ends_with(const Path& path) const {
  const auto found = by_last_.find(path.back());
  if (found == by_last_.end()) {
    return std::nullopt;
  }
  for (const std::size_t chain : found->second) {
    const auto& callbacks = reading_.draft.application.chains[chain].callbacks;
    if (callbacks.size() > path.size() &&
        std::equal(path.rbegin(), path.rend(), callbacks.rbegin())) {
      return Segment{.chain = chain, .entry = callbacks.size() - path.size()};
    }
  }
  return std::nullopt;
}

std::optional<Segment> Segments::segment(const ChainDraft& draft, std::size_t number,
                                         std::size_t begin, std::size_t end, NameIndex& chains) {
  const auto part = [&](const auto& items) {
    return std::decay_t<decltype(items)>(items.begin() + static_cast<std::ptrdiff_t>(begin),
                                         items.begin() + static_cast<std::ptrdiff_t>(end));
  };
  const Application& application = reading_.draft.application;
  const Path path = part(draft.chain.callbacks);
  if (const auto known = by_path_.find(path); known != by_path_.end()) {
    if (made_.contains(known->second)) {
      int& priority = reading_.draft.application.chains[known->second].priority;
      priority = std::max(priority, draft.chain.priority);
    }
    return Segment{.chain = known->second};
  }
  if (begin > 0 && application.callbacks[path.front()].takes_messages()) {
    return chain_that_ends_with(path);
  }
  Chain chain{.id = draft.chain.id + "_" + std::to_string(number),
              .callbacks = path,
              .priority = draft.chain.priority};
  chain.deadline = kNoDeadline;
  chains.add(chain.id, draft.at, reading_.context,
             "segment " + std::to_string(number) + " of chain " + in_quotes(draft.chain.id));
  made_.insert(application.chains.size());
  return Segment{.chain = add_chain(std::move(chain), {.callbacks = part(draft.source.callbacks)})};
}

bool Segments::publishes_for(const Segment& segment, std::size_t reader) const {
  const Application& application = reading_.draft.application;
  const Chain& chain = application.chains[segment.chain];
  const Callback& writer = application.callbacks[chain.callbacks.back()];
  const Callback& reads = application.callbacks[reader];
  if (!sampled_topic(writer, reads)) {
    return true;  // it stores a variable in each run
  }
  const auto entries = application.entries(chain).back();
  return std::ranges::any_of(reads.samples, [&](const std::string& topic) {
    const auto output = std::ranges::find(writer.publishes, topic);
    const auto index = static_cast<std::size_t>(output - writer.publishes.begin());
    return output != writer.publishes.end() &&
           (entries.empty() || std::ranges::any_of(entries, [&](std::size_t input) {
              return writer.sends(input, index);
            }));
  });
}

/// Reports that the callback before path[end] publishes nothing for path[end] in this chain.
void Segments::report_route(const ChainDraft& draft, std::size_t end) {
  const auto id = [&](std::size_t place) {
    return in_quotes(reading_.draft.application.callbacks[draft.chain.callbacks[place]].id);
  };
  reading_.context.diagnostics.report(
      draft.source.callbacks[end],
      "chain " + in_quotes(draft.chain.id) + " enters " + id(end - 1) +
          " by an input for which it publishes nothing that " + id(end) + " reads",
      "'publishes' of " + id(end - 1) + " to list, for this input, a topic that " + id(end) +
          " reads");
}

void Segments::add_cause_effect_chain(const ChainDraft& draft, NameIndex& chains) {
  Application& application = reading_.draft.application;
  const Path& path = draft.chain.callbacks;
  if (std::ranges::find(path, kUnknown) != path.end()) {
    return;  // reported
  }
  if (!is_token(draft.chain.id + "_" + std::to_string(path.size()))) {
    reading_.context.diagnostics.report(
        draft.at,
        "the segments of chain " + in_quotes(draft.chain.id) + " would have no valid names, as " +
            in_quotes(draft.chain.id + "_1"),
        "an id that does not end with '_' and has room for a number");
    return;
  }
  CauseEffectChain result{.id = draft.chain.id,
                          .callbacks = path,
                          .segments = {},
                          .max_reaction = draft.max_reaction,
                          .max_age = draft.max_age};
  std::size_t begin = 0;
  for (std::size_t end = 1; end <= path.size(); ++end) {
    if (end < path.size() && !is_sampled(path[end - 1], path[end])) {
      continue;
    }
    const auto found = segment(draft, result.segments.size() + 1, begin, end, chains);
    if (!found) {
      const std::string first = in_quotes(application.callbacks[path[begin]].id);
      reading_.context.diagnostics.report(
          draft.source.callbacks[begin],
          "chain " + in_quotes(draft.chain.id) + " reads a variable in " + first +
              ", which messages trigger, and no chain leads to it",
          "a chain from a timer or an event that passes " + first + " and ends with " +
              in_quotes(application.callbacks[path[end - 1]].id));
      return;
    }
    result.segments.push_back(*found);
    if (end < path.size() && !publishes_for(*found, path[end])) {
      report_route(draft, end);
      return;
    }
    begin = end;
  }
  const bool all_stated = std::ranges::none_of(
      result.segments, [&](const Segment& each) { return made_.contains(each.chain); });
  if (draft.priority && all_stated) {
    reading_.context.diagnostics.report(
        *draft.priority,
        "chain " + in_quotes(draft.chain.id) +
            " states a priority, but each of its segments is a chain with its own",
        "no priority here: those of these chains count");
  }
  application.cause_effect_chains.push_back(std::move(result));
}

bool check_variables(const Draft& draft, Context& context) {
  bool all_stored = true;
  const Application& application = draft.application;
  std::map<std::string, std::size_t, std::less<>> writers;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const auto& stores = application.callbacks[i].stores;
    for (std::size_t v = 0; v < stores.size(); ++v) {
      const auto [writer, is_new] = writers.try_emplace(stores[v], i);
      if (is_new) {
        names.push_back(stores[v]);
      } else if (writer->second != i) {
        context.diagnostics.report(draft.callbacks[i].stores[v],
                                   "the variable " + in_quotes(stores[v]) + " is also stored by " +
                                       in_quotes(application.callbacks[writer->second].id),
                                   "one callback that stores it");
      }
    }
  }
  const auto executor_at = [&](std::size_t callback) -> const Executor* {
    const Callback& own = application.callbacks[callback];
    if (own.node >= application.nodes.size()) {
      return nullptr;
    }
    const std::size_t executor = application.executor_of(callback);
    return executor < application.executors.size() ? &application.executors[executor] : nullptr;
  };
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const auto& reads = application.callbacks[i].reads;
    for (std::size_t v = 0; v < reads.size(); ++v) {
      const Position at = draft.callbacks[i].reads[v];
      const auto writer = writers.find(reads[v]);
      if (writer == writers.end()) {
        all_stored = false;
        context.diagnostics.report(
            at, "the variable " + in_quotes(reads[v]) + " is stored by no callback",
            context.suggester.suggest(reads[v], names, "a variable that a callback stores")
                .expected);
        continue;
      }
      const Executor* const own = executor_at(i);
      const Executor* const other = executor_at(writer->second);
      if (own != nullptr && other != nullptr &&
          (own->process != other->process || own->host != other->host)) {
        context.diagnostics.report(
            at,
            "the variable " + in_quotes(reads[v]) + " is stored in another process, by " +
                in_quotes(application.callbacks[writer->second].id),
            "a topic between the processes, and a subscription that stores it");
      }
    }
  }
  return all_stored;
}

}  // namespace rclrt::model::detail
