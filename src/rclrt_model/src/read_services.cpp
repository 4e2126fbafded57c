// SPDX-License-Identifier: Apache-2.0
#include "read_services.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "limits.hpp"
#include "rclrt/model/services.hpp"

namespace rclrt::model::detail {
namespace {

TriggerDraft read_end(const YamlNode& node, Role role, std::string_view what, std::string_view key,
                      TopicReader& topics) {
  Subscription subscription;
  subscription.role = role;
  const Fields fields(node, what, {key, "depth"}, topics.context());
  TriggerDraft draft;
  if (const YamlNode* value = fields.require(key, std::string(key) + ": plan")) {
    subscription.service = topics.read(*value, "service");
    draft.service = value->at;
  } else {
    topics.lose();
  }
  subscription.depth = read_depth(fields, topics.context());
  draft.trigger = std::move(subscription);
  return draft;
}

/// The callbacks of an application, to which the service topics are added.
class ServiceTopics {
 public:
  explicit ServiceTopics(Reading& reading)
      : reading_(reading),
        callbacks_(reading.draft.application.callbacks),
        sources_(reading.draft.callbacks) {}

  void add() {
    find_servers();
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      add_calls(i);
    }
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      if (role_of(callbacks_[i]) == Role::kClient && !callbacks_[i].id.empty()) {
        add_client(i);
      }
    }
    if (reading_.draft.graph_known) {
      require_partners();
    }
    for (const auto& [name, server] : servers_) {
      set_routes(server);
    }
  }

 private:
  static Subscription& end_of(Callback& callback) {
    return std::get<Subscription>(callback.trigger);
  }

  void report(Position at, const std::string& what, const std::string& expected) {
    reading_.context.diagnostics.report(at, what, expected);
  }

  void find_servers() {
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      if (role_of(callbacks_[i]) != Role::kService || end_of(callbacks_[i]).service.empty()) {
        continue;
      }
      const std::string& name = end_of(callbacks_[i]).service;
      const auto [first, inserted] = servers_.try_emplace(name, i);
      if (!inserted) {
        report(sources_[i].service, "service " + in_quotes(name) + " has a second server",
               "one server for each name (the first is on " +
                   yaml::line_of(sources_[first->second].service) + ")");
        reading_.draft.graph_known = false;
      }
    }
  }

  void add_client(std::size_t client) {
    end_of(callbacks_[client]).topics = {response_topic(callbacks_[client].id)};
    sources_[client].inputs = {sources_[client].service};
    const auto found = servers_.find(end_of(callbacks_[client]).service);
    if (found == servers_.end()) {
      return;
    }
    Callback& server = callbacks_[found->second];
    end_of(server).topics.push_back(request_topic(callbacks_[client].id));
    sources_[found->second].inputs.push_back(sources_[found->second].service);
    server.publishes.push_back(response_topic(callbacks_[client].id));
    sources_[found->second].publishes.push_back(sources_[found->second].service);
  }

  /// Adds the request topics of the clients that the callback calls to its `publishes`: after the
  /// topics that the file lists, and before the response topics of a server.
  void add_calls(std::size_t caller) {
    std::map<std::string, Position> seen;  // not a hash table: an attacker chooses its keys
    for (const auto& [id, at] : sources_[caller].calls) {
      const std::size_t client = reading_.callbacks.resolve(id, at, reading_.context);
      const auto [first, inserted] = seen.try_emplace(id, at);
      if (!inserted) {
        report(at, "the callback calls " + in_quotes(id) + " twice",
               "each client once (the first is on " + yaml::line_of(first->second) + ")");
      }
      if (client >= callbacks_.size() || !inserted || !is_callable(caller, client, at)) {
        reading_.draft.graph_known = false;
        continue;
      }
      called_.insert(client);
      Callback& callback = callbacks_[caller];
      for (auto& route : callback.routes) {
        route.push_back(callback.publishes.size());
      }
      callback.publishes.push_back(request_topic(id));
      sources_[caller].publishes.push_back(at);
    }
  }

  bool is_callable(std::size_t caller, std::size_t client, Position at) {
    const Callback& called = callbacks_[client];
    const auto& nodes = reading_.draft.application.nodes;
    if (role_of(called) != Role::kClient) {
      report(at, "'calls' names " + in_quotes(called.id) + ", which is no client",
             "a callback with 'client: {service: ...}'");
      return false;
    }
    const std::size_t own = callbacks_[caller].node;
    if (own < nodes.size() && called.node < nodes.size() && own != called.node) {
      report(at,
             "the client " + in_quotes(called.id) + " belongs to node " +
                 in_quotes(nodes[called.node].name),
             "a client of the callback's own node, " + in_quotes(nodes[own].name));
      return false;
    }
    return true;
  }

  /// Checks that each client has a server and a caller, and each service a client.
  void require_partners() {
    std::vector<std::string_view> names;
    for (const auto& [name, server] : servers_) {
      names.push_back(name);
    }
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      const Role role = role_of(callbacks_[i]);
      if (role == Role::kTopic) {
        continue;
      }
      const Subscription& end = end_of(callbacks_[i]);
      const Position at = sources_[i].service;
      if (role == Role::kClient && !servers_.contains(end.service)) {
        report(at, "service " + in_quotes(end.service) + " has no server",
               reading_.context.suggester
                   .suggest(end.service, names, "a callback with 'service: {name: ...}'")
                   .expected);
      } else if (role == Role::kClient && !called_.contains(i)) {
        report(at, "client " + in_quotes(callbacks_[i].id) + " is called by no callback",
               "a callback of its node with 'calls: [" + callbacks_[i].id + "]'");
      } else if (role == Role::kService && end.topics.empty()) {
        report(at, "service " + in_quotes(end.service) + " has no client",
               "a callback with 'client: {service: " + end.service + "}'");
      } else if (role == Role::kService && end.topics.size() > kServiceClients) {
        report(at,
               "service " + in_quotes(end.service) + " has " + std::to_string(end.topics.size()) +
                   " clients",
               "at most " + std::to_string(kServiceClients));
      } else {
        continue;
      }
      reading_.draft.graph_known = false;
    }
  }

  /// Sets the routes of a service: the run for a client's request publishes the response on that
  /// client's topic, and publishes on all topics that are no responses for every request.
  void set_routes(std::size_t server) {
    Callback& callback = callbacks_[server];
    const std::size_t clients = end_of(callback).topics.size();
    if (!reading_.draft.graph_known || clients < 2) {
      return;
    }
    const std::size_t always = callback.publishes.size() - clients;
    if (always > kServiceOutputs) {
      report(sources_[server].service,
             "service " + in_quotes(end_of(callback).service) + " publishes on " +
                 std::to_string(always) + " topics, requests to other services included",
             "at most " + std::to_string(kServiceOutputs) + " for a service with several clients");
      reading_.draft.graph_known = false;
      return;
    }
    callback.routes.resize(clients);
    for (std::size_t client = 0; client < clients; ++client) {
      for (std::size_t output = 0; output < always; ++output) {
        callback.routes[client].push_back(output);
      }
      callback.routes[client].push_back(always + client);
    }
  }

  Reading& reading_;
  std::vector<Callback>& callbacks_;
  std::vector<CallbackSource>& sources_;
  std::map<std::string, std::size_t> servers_;  // the first server of each name
  std::set<std::size_t> called_;
};

}  // namespace

TriggerDraft read_service(const YamlNode& node, TopicReader& topics) {
  return read_end(node, Role::kService, "service", "name", topics);
}

TriggerDraft read_client(const YamlNode& node, TopicReader& topics) {
  return read_end(node, Role::kClient, "client", "service", topics);
}

void read_calls(const YamlNode& node, CallbackSource& source, TopicReader& topics) {
  if (node.kind != YamlKind::kSequence) {
    topics.lose();
  }
  for (const YamlNode& item : read_list(node, "calls", topics.context())) {
    if (const auto id = yaml::read_text(item, "a client", topics.context())) {
      source.calls.emplace_back(*id, item.at);
    } else {
      topics.lose();
    }
  }
}

void add_service_topics(Reading& reading) { ServiceTopics(reading).add(); }

}  // namespace rclrt::model::detail
