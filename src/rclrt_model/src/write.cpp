// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/write.hpp"

#include <algorithm>
#include <iterator>

#include "limits.hpp"
#include "rclrt/model/event_times.hpp"
#include "rclrt/model/services.hpp"
#include "write_parts.hpp"

namespace rclrt::model {
namespace {

using detail::cpus;
using detail::in_double_quotes;
using detail::list;
using detail::ms;
using detail::name;
using detail::section;

std::string names(const std::vector<std::string>& items) { return list(items, name); }

std::string to_text(const Timer& timer) {
  std::string text = "timer: {period_ms: " + ms(timer.period);
  if (timer.offset_stated) {
    text += ", offset_ms: " + ms(timer.offset);
  }
  if (timer.overrun == OverrunPolicy::kSkip) {
    text += ", overrun: skip";
  }
  if (timer.overrun == OverrunPolicy::kRebase) {
    text += ", overrun: rebase";
  }
  return text + "}";
}

std::string depth(std::size_t value) {
  return value == detail::kDefaultDepth ? "" : ", depth: " + std::to_string(value);
}

std::string to_text(const Subscription& subscription) {
  if (subscription.role != Role::kTopic) {
    return (subscription.role == Role::kService ? "service: {name: " : "client: {service: ") +
           name(subscription.service) + depth(subscription.depth) + "}";
  }
  std::string text = "subscription: {";
  text += subscription.topics.size() == 1 ? "topic: " + name(subscription.topics.front())
                                          : "topics: " + names(subscription.topics);
  text += depth(subscription.depth);
  if (subscription.reliability == Reliability::kBestEffort) {
    text += ", reliability: best_effort";
  }
  if (subscription.intra_process) {
    text += ", intra_process: true";
  }
  return text + "}";
}

std::string to_text(const Sync& sync) {
  std::string text = "sync: {topics: " + names(sync.topics);
  if (sync.policy == SyncPolicy::kExact) {
    text += ", policy: exact";
  } else if (sync.window != detail::kDefaultWindow) {
    text += ", window_ms: " + ms(sync.window);
  }
  return text + depth(sync.depth) + "}";
}

std::string to_text(const Event& event) {
  std::string text = "event: {";
  if (event.period > Nanoseconds::zero()) {
    text += "period_ms: " + ms(event.period);
    if (event.jitter > Nanoseconds::zero()) {
      text += ", jitter_ms: " + ms(event.jitter);
    }
    if (event.min_interval > event.period - event.jitter) {
      text += ", min_interval_ms: " + ms(event.min_interval);
    }
  } else {
    text += "min_interval_ms: " + ms(event.min_interval);
    if (event.max_interval != event.min_interval) {
      text += ", max_interval_ms: " + ms(event.max_interval);
    }
  }
  if (event.offset) {
    text += ", offset_ms: " + ms(*event.offset);
  }
  text += depth(event.depth);
  if (event.seed != 0 && event.seed < EventTimes::kExtremes) {
    text += ", seed: " + std::to_string(event.seed);
  }
  return text + "}";
}

/// Returns the callback's key `publishes` as YAML: a list of topics or, with routes, a mapping from
/// each input to its list. Empty text without topics.
std::string publishes(const Callback& callback) {
  std::vector<std::string> topics = callback.publishes;
  std::erase_if(topics, is_service_topic);
  if (callback.routes.empty() || role_of(callback) == Role::kService) {
    return topics.empty() ? "" : ", publishes: " + names(topics);
  }
  const std::vector<std::string> taken = inputs(callback);
  std::string text;
  for (std::size_t input = 0; input < taken.size(); ++input) {
    std::vector<std::string> answers;
    for (const std::size_t output : callback.routes.at(input)) {
      answers.push_back(callback.publishes.at(output));
    }
    std::erase_if(answers, is_service_topic);
    text += (text.empty() ? ", publishes: {" : ", ") + name(taken[input]) + ": " + names(answers);
  }
  return text + "}";
}

/// Returns the callback's key `reads` as YAML; an empty text if it reads nothing.
std::string reads(const Callback& callback) {
  std::string items;
  const auto add = [&](const std::string& item) { items += (items.empty() ? "" : ", ") + item; };
  for (const std::string& variable : callback.reads) {
    add(name(variable));
  }
  for (const std::string& topic : callback.samples) {
    add("{topic: " + name(topic) + "}");
  }
  return items.empty() ? "" : ", reads: [" + items + "]";
}

std::string to_text(const Application& application, const Callback& callback) {
  std::string text =
      "{id: " + name(callback.id) + ", node: " + name(application.nodes.at(callback.node).name);
  text += ", " + std::visit([](const auto& trigger) { return to_text(trigger); }, callback.trigger);
  text += ", wcet_ms: " + ms(callback.wcet);
  if (callback.waits > Nanoseconds::zero()) {
    text += ", waits_ms: " + ms(callback.waits);
  }
  if (callback.workload) {
    text += ", workload: {name: " + name(callback.workload->name) +
            ", iterations: " + std::to_string(callback.workload->iterations) + "}";
  }
  if (const auto& observed = callback.observed) {
    text += ", observed: {n: " + std::to_string(observed->n) + ", p50_ms: " + ms(observed->p50) +
            ", p99_ms: " + ms(observed->p99) + ", max_ms: " + ms(observed->max) + "}";
  }
  text += publishes(callback);
  if (const auto clients = calls(callback); !clients.empty()) {
    text += ", calls: " + names(clients);
  }
  if (!callback.stores.empty()) {
    text += ", stores: " + names(callback.stores);
  }
  text += reads(callback);
  if (callback.executor) {
    text += ", executor: " + name(application.executors.at(*callback.executor).name);
  }
  if (callback.group) {
    text += ", group: " + name(*callback.group);
  }
  if (callback.priority) {
    text += ", priority: " + std::to_string(*callback.priority);
  }
  if (callback.overload == Overload::kKeepLast) {
    text += ", overload: keep_last";
  }
  if (callback.overload == Overload::kSkipIfRunning) {
    text += ", overload: skip_if_running";
  }
  if (callback.deadline) {
    text += ", deadline_ms: " + ms(*callback.deadline);
  }
  return text + "}";
}

std::string to_text(const ThreadRule& rule) {
  const Scheduling& stated = rule.scheduling;
  std::string text = "{name: " + name(rule.name) + ", policy: ";
  switch (stated.policy) {
    case Policy::kOther:
      text += "other";
      if (stated.nice) {
        text += ", nice: " + std::to_string(*stated.nice);
      }
      break;
    case Policy::kFifo:
      text += "fifo, priority: " + std::to_string(stated.priority);
      break;
    case Policy::kRoundRobin:
      text += "rr, priority: " + std::to_string(stated.priority);
      break;
    case Policy::kDeadline:
      text += "deadline, runtime_ms: " + ms(stated.reservation.runtime) +
              ", deadline_ms: " + ms(stated.reservation.deadline) +
              ", period_ms: " + ms(stated.reservation.period);
      break;
  }
  text += cpus(stated.cpus);
  return text + "}";
}

std::string topics(const Application& application) {
  std::vector<Topic> sized;
  std::ranges::copy_if(application.topics, std::back_inserter(sized), [](const Topic& topic) {
    return topic.size_bytes > 0 || topic.network_priority > 0;
  });
  return section("topics", sized, [](const Topic& topic) {
    return "{name: " + name(topic.name) +
           (topic.size_bytes > 0 ? ", size_bytes: " + std::to_string(topic.size_bytes) : "") +
           (topic.network_priority > 0
                ? ", network_priority: " + std::to_string(topic.network_priority)
                : "") +
           "}";
  });
}

std::string limits(const CauseEffectChain& chain) {
  std::string text;
  if (chain.max_reaction) {
    text += ", max_reaction_ms: " + ms(*chain.max_reaction);
  }
  if (chain.max_age) {
    text += ", max_age_ms: " + ms(*chain.max_age);
  }
  return text;
}

/// Returns the section of the chains. A cause-effect chain with one segment is a chain with limits.
/// One with several is an entry of its own; its segments are chains above it.
std::string chains(const Application& application) {
  const auto head = [&](const std::string& id, const std::vector<std::size_t>& callbacks) {
    const auto text = [&](std::size_t index) { return name(application.callbacks.at(index).id); };
    return "{id: " + name(id) + ", callbacks: " + list(callbacks, text);
  };
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < application.chains.size(); ++i) {
    const Chain& chain = application.chains[i];
    std::string text =
        head(chain.id, chain.callbacks) + ", priority: " + std::to_string(chain.priority) +
        ", deadline_ms: " + ms(chain.deadline) + (chain.logical_execution ? ", let: true" : "");
    for (const CauseEffectChain& limited : application.cause_effect_chains) {
      if (limited.segments.size() == 1 && limited.segments.front().chain == i) {
        text += limits(limited);
      }
    }
    entries.push_back(text + "}");
  }
  for (const CauseEffectChain& chain : application.cause_effect_chains) {
    if (chain.segments.size() > 1) {
      entries.push_back(head(chain.id, chain.callbacks) + limits(chain) + "}");
    }
  }
  return section("chains", entries, [](const std::string& entry) { return entry; });
}

}  // namespace

std::string to_yaml(const Application& application) {
  std::string text = "rclrt: 1\nname: " + name(application.name) + "\n";
  if (!application.description.empty()) {
    text += "description: " + in_double_quotes(application.description) + "\n";
  }
  text += detail::hosts_and_links(application);
  text += section("executors", application.executors, [&](const Executor& executor) {
    return "{name: " + name(executor.name) +
           (executor.host ? ", host: " + name(application.hosts.at(*executor.host).name) : "") +
           cpus(executor.cpus) + cpus(executor.scheduler_cpus, "scheduler_cpus") +
           (executor.process.empty() ? "" : ", process: " + name(executor.process)) +
           (executor.top_priority ? ", top_priority: " + std::to_string(*executor.top_priority)
                                  : "") +
           "}";
  });
  text += section("nodes", application.nodes, [&](const Node& node) {
    std::string entry = "{name: " + name(node.name);
    if (node.name_space != "/") {
      entry += ", namespace: " + name(node.name_space);
    }
    return entry + ", executor: " + name(application.executors.at(node.executor).name) + "}";
  });
  text += section("callbacks", application.callbacks,
                  [&](const Callback& callback) { return to_text(application, callback); });
  text += topics(application);
  text += chains(application);
  text +=
      section("threads", application.threads, [](const ThreadRule& rule) { return to_text(rule); });
  return text;
}

}  // namespace rclrt::model
