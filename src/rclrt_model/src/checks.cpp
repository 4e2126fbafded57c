// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "names.hpp"
#include "rclrt/model/services.hpp"
#include "segments.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {
namespace {

void check_inputs_are_published(const Draft& draft, Context& context) {
  std::set<std::string_view> published;
  std::vector<std::string_view> in_order;
  for (const Callback& callback : draft.application.callbacks) {
    for (const std::string& topic : callback.publishes) {
      if (published.insert(topic).second && !is_service_topic(topic)) {
        in_order.push_back(topic);
      }
    }
  }
  for (std::size_t i = 0; i < draft.callbacks.size(); ++i) {
    const auto topics = inputs(draft.application.callbacks[i]);
    for (std::size_t t = 0; t < topics.size(); ++t) {
      if (published.contains(topics[t])) {
        continue;
      }
      context.diagnostics.report(
          draft.callbacks[i].inputs[t],
          "topic " + in_quotes(topics[t]) + " is published by no callback",
          context.suggester.suggest(topics[t], in_order, "a topic that a callback publishes")
              .expected);
    }
  }
}

/// Checks that names are written alike everywhere. The graph joins topics and services by their
/// text in the file, but ROS joins them by their full name, with the namespace: equal texts must
/// have equal full names, and different texts different ones.
class RosNames {
 public:
  /// `what` and `several` are the words for an entry and for entries in messages.
  RosNames(const char* what, const char* several, Context& context)
      : what_(what), several_(several), context_(context) {}

  void check(const std::string& topic, std::string_view name_space, Position at) {
    const std::string resolved = resolve_topic(topic, name_space);
    const auto [meaning, is_new] = meaning_.try_emplace(topic, resolved);
    if (!is_new && meaning->second != resolved) {
      context_.diagnostics.report(at,
                                  what_ + (" " + in_quotes(topic)) + " is " + in_quotes(resolved) +
                                      " in this node's namespace but " +
                                      in_quotes(meaning->second) + " in another's",
                                  "the full name with a leading '/' in both places");
      return;
    }
    const auto [spelling, is_first] = spelling_.try_emplace(resolved, topic);
    if (!is_first && spelling->second != topic) {
      context_.diagnostics.report(at,
                                  several_ + (" " + in_quotes(topic)) + " and " +
                                      in_quotes(spelling->second) + " are the same " + what_,
                                  "one spelling of it in the whole file");
    }
  }

 private:
  std::string what_;
  std::string several_;
  Context& context_;
  std::map<std::string, std::string> meaning_;   ///< from the text in the file
  std::map<std::string, std::string> spelling_;  ///< from the name in the running system
};

void check_topic_names(const Draft& draft, Context& context) {
  RosNames names("topic", "topics", context);
  RosNames services("service", "services", context);
  const Application& application = draft.application;
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const Callback& callback = application.callbacks[i];
    if (callback.node >= application.nodes.size()) {
      continue;
    }
    const std::string& name_space = application.nodes[callback.node].name_space;
    const auto topics = inputs(callback);
    if (role_of(callback) != Role::kTopic) {
      services.check(std::get<Subscription>(callback.trigger).service, name_space,
                     draft.callbacks[i].service);
    }
    for (std::size_t t = 0; t < topics.size(); ++t) {
      if (!is_service_topic(topics[t])) {
        names.check(topics[t], name_space, draft.callbacks[i].inputs[t]);
      }
    }
    for (std::size_t t = 0; t < callback.samples.size(); ++t) {
      names.check(callback.samples[t], name_space, draft.callbacks[i].samples[t]);
    }
    for (std::size_t t = 0; t < callback.publishes.size(); ++t) {
      if (!is_service_topic(callback.publishes[t])) {
        names.check(callback.publishes[t], name_space, draft.callbacks[i].publishes[t]);
      }
    }
  }
}

/// Checks that a node is in one process, and that the callbacks of a group have one executor.
void check_executors_of_callbacks(const Draft& draft, Context& context) {
  const Application& application = draft.application;
  std::map<std::pair<std::size_t, std::string>, std::size_t> first;  // callback of node and group
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const Callback& callback = application.callbacks[i];
    if (callback.node >= application.nodes.size()) {
      continue;
    }
    const std::size_t of_node = application.nodes[callback.node].executor;
    const std::size_t own = callback.executor.value_or(of_node);
    if (own >= application.executors.size() || of_node >= application.executors.size()) {
      continue;
    }
    const Executor& executor = application.executors[own];
    const Executor& nodes = application.executors[of_node];
    if (executor.host != nodes.host) {
      context.diagnostics.report(draft.callbacks[i].executor,
                                 "executor " + in_quotes(executor.name) + " of callback " +
                                     in_quotes(callback.id) + " is on another host than executor " +
                                     in_quotes(nodes.name) + " of its node",
                                 "an executor on the host of the node's executor");
    } else if (executor.process != nodes.process) {
      context.diagnostics.report(
          draft.callbacks[i].executor,
          "executor " + in_quotes(executor.name) + " of callback " + in_quotes(callback.id) +
              " is in another process than executor " + in_quotes(nodes.name) + " of its node",
          "an executor in the process of the node's executor");
    }
    if (!callback.group) {
      continue;
    }
    const auto [known, is_first] = first.try_emplace({callback.node, *callback.group}, i);
    const std::size_t other = application.executor_of(known->second);
    if (!is_first && other != own && other < application.executors.size()) {
      context.diagnostics.report(
          draft.callbacks[i].executor,
          "callback " + in_quotes(callback.id) + " of group " + in_quotes(*callback.group) +
              " runs in executor " + in_quotes(executor.name) + ", but " +
              in_quotes(application.callbacks[known->second].id) + " of this group in " +
              in_quotes(application.executors[other].name),
          "one executor for all callbacks of a group");
    }
  }
}

void report_missing_edge(const Application& application, const Chain& chain, std::size_t from,
                         std::size_t to, Position at, Context& context) {
  const Callback& source = application.callbacks[from];
  const Callback& target = application.callbacks[to];
  const auto topics = inputs(target);
  const std::string what = "chain " + in_quotes(chain.id) + " is no path: there is no edge from " +
                           in_quotes(source.id) + " to " + in_quotes(target.id);
  if (topics.empty()) {
    context.diagnostics.report(
        at, what,
        "a variable that " + in_quotes(source.id) + " stores ('stores: [x]') and " +
            in_quotes(target.id) + " reads ('reads: [x]'), because no message triggers " +
            in_quotes(target.id) +
            "; the chain then samples, and may state a 'max_age_ms' or 'max_reaction_ms'");
    return;
  }
  if (role_of(target) == Role::kService) {
    context.diagnostics.report(at, what,
                               in_quotes(source.id) + " to call a client of the service " +
                                   in_quotes(std::get<Subscription>(target.trigger).service));
    return;
  }
  if (role_of(target) == Role::kClient) {
    context.diagnostics.report(at, what,
                               "the server of the service " +
                                   in_quotes(std::get<Subscription>(target.trigger).service) +
                                   " before its client");
    return;
  }
  context.diagnostics.report(at, what,
                             in_quotes(source.id) + " to publish " +
                                 list_in_quotes({topics.begin(), topics.end()}) + ", which " +
                                 in_quotes(target.id) + " takes");
}

/// Reports the chain if its routes break it: each callback publishes a topic that the next callback
/// takes, but one does not publish it for the messages by which this chain enters.
void check_routes(const Application& application, const Chain& chain,
                  const std::vector<Position>& positions, Context& context) {
  const auto entries = application.entries(chain);
  const auto end = std::find_if(entries.begin() + 1, entries.end(),
                                [](const auto& inputs) { return inputs.empty(); });
  if (end == entries.end()) {
    return;
  }
  const auto n = static_cast<std::size_t>(end - entries.begin());
  const Callback& source = application.callbacks[chain.callbacks[n - 1]];
  const Callback& target = application.callbacks[chain.callbacks[n]];
  const auto taken = inputs(source);
  std::vector<std::string_view> ways;
  for (const std::size_t input : entries[n - 1]) {
    ways.push_back(taken[input]);
  }
  context.diagnostics.report(
      positions[n],
      "chain " + in_quotes(chain.id) + " is no path: it enters " + in_quotes(source.id) + " by " +
          list_in_quotes(ways) + ", and for this input " + in_quotes(source.id) +
          " publishes nothing that " + in_quotes(target.id) + " takes",
      "'publishes' of " + in_quotes(source.id) + " to list, for this input, a topic that " +
          in_quotes(target.id) + " takes");
}

/// `variables_known`: each variable that is read is stored. Otherwise one of them may lead to a
/// callback that no message triggers.
void check_chains(const Draft& draft, const Graph& graph, bool variables_known, Context& context) {
  const Application& application = draft.application;
  for (std::size_t c = 0; c < application.chains.size(); ++c) {
    const Chain& chain = application.chains[c];
    const auto& positions = draft.chains[c].callbacks;
    bool sound = !chain.callbacks.empty();
    for (std::size_t i = 0; i < chain.callbacks.size(); ++i) {
      const std::size_t callback = chain.callbacks[i];
      if (callback == kUnknown) {
        sound = false;
        continue;
      }
      if (i == 0) {
        if (application.callbacks[callback].takes_messages()) {
          sound = false;
          context.diagnostics.report(positions[i],
                                     "chain " + in_quotes(chain.id) + " starts with " +
                                         in_quotes(application.callbacks[callback].id) +
                                         ", which is no timer and no event",
                                     "a chain that starts with a timer or an event");
        }
      } else if (const std::size_t previous = chain.callbacks[i - 1];
                 previous == kUnknown || previous == callback || !graph.has_publishers(callback)) {
        sound = false;
      } else if (!graph.has_edge(previous, callback)) {
        sound = false;
        if (!variables_known && !application.callbacks[callback].takes_messages()) {
          continue;
        }
        report_missing_edge(application, chain, previous, callback, positions[i], context);
      }
    }
    if (sound) {
      check_routes(application, chain, positions, context);
    }
  }
}

}  // namespace

void check_application(const Draft& draft, Context& context) {
  check_executors_of_callbacks(draft, context);
  const bool variables_known = check_variables(draft, context) && draft.variables_known;
  if (!draft.graph_known) {
    return;
  }
  const Graph graph(draft.application);
  check_inputs_are_published(draft, context);
  const bool samples_known = check_samples(draft, context);
  check_topic_names(draft, context);
  check_cycles(draft, graph, context);
  check_chains(draft, graph, variables_known && samples_known, context);
}

}  // namespace rclrt::model::detail
