// SPDX-License-Identifier: Apache-2.0
#include "bounds/global_system.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "bounds/drops.hpp"
#include "bounds/thread_priorities.hpp"

namespace rclrt::analysis::detail {

Ticks GlobalSource::instances(Ticks x, Ticks response) const {
  Ticks result = 0;
  for (const GlobalArrivals& each : arrivals) {
    const Ticks releases = each.releases.before(sum(x, sum(response, earlier)));
    result = sum(result, product(releases, each.count));
  }
  return result;
}

Ticks GlobalSource::runs(const GlobalNode& node, Ticks x) const {
  if (node.response < kHorizon) {
    return product(instances(x, node.response), node.count);
  }
  return runs_by_queues(node, x);
}

Ticks GlobalSource::runs_by_queues(const GlobalNode& node, Ticks x) const {
  Ticks result = node.queued;
  for (const GlobalArrivals& each : arrivals) {
    const Ticks releases = each.releases.before(sum(x, node.on_way));
    result = sum(result, product(product(releases, each.count), node.count));
  }
  return result;
}

GlobalPool pool_of(const model::ExecutorChoice& executor) {
  const bool has_threads = executor.threads > 1;
  return {.kind = bounds_of(executor).pool,
          .most_threads = has_threads ? std::optional<Ticks>(executor.threads) : std::nullopt,
          .runs_sets = traits(executor).runs_sets};
}

GlobalSystem::GlobalSystem(const Workload& all, const Core& component, GlobalPool threads,
                           bool scheduled, const Overheads& costs)
    : workload(all),
      here(all.wcet.size()),
      executors(all.application.executors.size()),
      priority(thread_priorities(all, component)),
      ceiling(thread_ceilings(all, component, priority)),
      pool(threads),
      has_turns(threads.kind != Pool::kOfInstances || all.dispatch == all.scheduler),
      has_queues(threads.kind != Pool::kOfInstances &&
                 (threads.kind != Pool::kEnough || all.scheduler == 0)),
      runs_what_waits((threads.kind == Pool::kEnough || threads.kind == Pool::kOfInstances ||
                       threads.kind == Pool::kOnePerLevel) &&
                      !threads.runs_sets && all.scheduler == 0),
      overheads(costs),
      dispatch(all.dispatch - all.scheduler),
      members(all.wcet.size()) {
  std::map<std::pair<std::size_t, std::string>, std::vector<std::size_t>> groups;
  for (std::size_t callback = 0; callback < here.size(); ++callback) {
    executor_of.push_back(all.application.executor_of(callback));
  }
  for (const std::size_t executor : component.executors) {
    executors[executor] = on_cpus(component, executor, scheduled);
  }
  for (const std::size_t callback : component.callbacks) {
    here[callback] = true;
    const model::Callback& stated = all.application.callbacks[callback];
    if (pool.kind == Pool::kSingle) {
      groups[{executor_of[callback], {}}].push_back(callback);
    } else if (stated.group) {
      groups[{stated.node, *stated.group}].push_back(callback);
    }
  }
  for (const auto& [key, group] : groups) {
    for (const std::size_t callback : group) {
      members[callback] = group;
      std::erase(members[callback], callback);
    }
  }
  find_turns(component);
  find_waits();
  for (const std::size_t callback : all.graph.order) {
    const bool starts = all.graph.publishers[callback].empty() || is_sync(all, callback);
    if (here[callback] && starts && !all.runs[callback].empty()) {
      add_source(callback);
    }
  }
  for (const std::size_t executor : component.executors) {
    find_nodes(executor);
  }
}

/// Sets turn_of.
void GlobalSystem::find_turns(const Core& component) {
  turn_of.resize(here.size());
  std::map<std::pair<std::size_t, int>, std::size_t> of_thread;  // by executor and lane
  for (const std::size_t callback : component.callbacks) {
    turn_of[callback] = callback;
    if (!has_turns) {
      continue;
    }
    const bool is_timer =
        workload.application.callbacks[callback].kind() == model::CallbackKind::kTimer;
    if (pool.kind == Pool::kOnePerLevel || pool.kind == Pool::kTimersApart) {
      const int lane =
          pool.kind == Pool::kTimersApart ? static_cast<int>(is_timer) : priority[callback];
      turn_of[callback] =
          of_thread.try_emplace({executor_of[callback], lane}, callback).first->second;
    } else if (!members[callback].empty()) {  // Pool::kSingle: all of its executor
      turn_of[callback] = std::min(callback, std::ranges::min(members[callback]));
    }
  }
}

/// Sets waits_with: joins callbacks that have turns or a group in common. The worker of a level may
/// wait for the group of one callback while others are in its queue.
void GlobalSystem::find_waits() {
  waits_with.resize(here.size());
  std::iota(waits_with.begin(), waits_with.end(), std::size_t{0});
  const auto first_of = [this](std::size_t callback) {
    while (waits_with[callback] != callback) {
      callback = waits_with[callback];
    }
    return callback;
  };
  const auto join = [&](std::size_t one, std::size_t other) {
    waits_with[first_of(one)] = first_of(other);
  };
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (here[i]) {
      join(i, turn_of[i]);
      if (!members[i].empty()) {
        join(i, std::ranges::min(members[i]));
      }
    }
  }
  for (std::size_t i = 0; i < here.size(); ++i) {
    waits_with[i] = first_of(i);
  }
}

/// Finds what runs on the CPUs of an executor.
void GlobalSystem::find_nodes(std::size_t executor) {
  GlobalExecutor& own = executors[executor];
  const auto runs_here = [&](std::size_t callback) {
    const std::size_t other = executor_of[callback];
    return other == executor || own.callbacks_of[other];
  };
  for (std::size_t i = 0; i < sources.size(); ++i) {
    GlobalNodes found{.source = i, .nodes = {}};
    for (std::size_t k = 0; k < sources[i].nodes.size(); ++k) {
      if (runs_here(sources[i].nodes[k].callback)) {
        const int own_ceiling = ceiling[sources[i].nodes[k].callback];
        found.ceiling = found.nodes.empty() ? own_ceiling : std::max(found.ceiling, own_ceiling);
        found.nodes.push_back(k);
      }
    }
    if (!found.nodes.empty()) {
      own.nodes.push_back(std::move(found));
    }
  }
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (here[i] && runs_here(i) && !workload.graph.publishers[i].empty()) {
      own.most_urgent_message =
          std::max(own.most_urgent_message.value_or(priority[i]), priority[i]);
    }
  }
}

/// Without scheduler threads, what runs above all levels (the pick-ups of a `workshop`) runs on the
/// CPUs of the executor.
GlobalExecutor GlobalSystem::on_cpus(const Core& component, std::size_t executor,
                                     bool scheduled) const {
  const auto& stated = workload.application.executors;
  const auto cpus_above = [&](std::size_t one) -> const std::vector<int>& {
    return scheduled ? scheduler_cpus(stated[one]) : stated[one].cpus;
  };
  const std::vector<int>& own = stated[executor].cpus;
  std::set<int> all(own.begin(), own.end());
  if (workload.scheduler > 0) {
    const std::vector<int>& apart = cpus_above(executor);
    all.insert(apart.begin(), apart.end());
  }
  const auto count = static_cast<Ticks>(own.size());
  GlobalExecutor result{.cpus = std::min(count, pool.most_threads.value_or(count)),
                        .all_cpus = static_cast<Ticks>(all.size()),
                        .callbacks_of = std::vector<bool>(stated.size()),
                        .schedulers_of = std::vector<bool>(stated.size()),
                        .has_cpus_of = std::vector<bool>(stated.size()),
                        .place_of = std::vector<std::size_t>(stated.size())};
  std::map<std::set<int>, std::size_t> places;
  for (const std::size_t other : component.executors) {
    std::set<int> common;
    std::ranges::copy_if(stated[other].cpus, std::inserter(common, common.end()),
                         [&](int cpu) { return std::ranges::find(own, cpu) != own.end(); });
    const auto [place, is_new] = places.try_emplace(common, places.size());
    result.place_of[other] = place->second;
    if (is_new) {
      result.places.push_back(static_cast<Ticks>(common.size()));
    }
    result.callbacks_of[other] = overlap(own, stated[other].cpus);
    result.has_cpus_of[other] = std::set(own.begin(), own.end()) ==
                                std::set(stated[other].cpus.begin(), stated[other].cpus.end());
    result.schedulers_of[other] = overlap({all.begin(), all.end()}, cpus_above(other));
  }
  return result;
}

/// Returns the longest time by which the message stamp of a run of the callback is later than the
/// timer's release that Workload::runs counts the run by. Runs behind a sync are counted by the
/// releases of the input with the longest period. The sync stamps its set of messages with the
/// latest stamp in it, which is at most the sync's window later than that input's. The windows of
/// all syncs before the callback add up. 0 without a sync.
Ticks GlobalSystem::waits_in_syncs(std::size_t callback) const {
  const auto& inputs = workload.graph.publishers[callback];
  if (inputs.empty()) {
    return 0;
  }
  Ticks result = 0;
  for (const std::size_t publisher : inputs[workload.rarest_input[callback]]) {
    result = std::max(result, waits_in_syncs(publisher));
  }
  const auto* const sync =
      std::get_if<model::Sync>(&workload.application.callbacks[callback].trigger);
  return sync != nullptr ? sum(result, sync->window.count()) : result;
}

void GlobalSystem::add_source(std::size_t callback) {
  GlobalSource source{.callback = callback,
                      .earlier = waits_in_syncs(callback),
                      .is_sync = is_sync(workload, callback)};
  for (const RunsOf& each : workload.runs[callback]) {
    source.arrivals.push_back({workload.releases(each.timer, 0), each.count});
  }
  std::map<std::size_t, std::size_t> places;  // of callbacks, and of messages to syncs
  const auto node_of = [&](std::size_t to, bool is_message) -> GlobalNode& {
    const auto [at, added] = places.try_emplace(to, source.nodes.size());
    if (added) {
      const Ticks work = is_message ? dispatch : sum(workload.wcet[to], dispatch);
      source.nodes.push_back(
          {.callback = to, .is_message = is_message, .work = work, .lowest = priority[to]});
    }
    return source.nodes[at->second];
  };
  GlobalNode& first = node_of(callback, false);
  first.count = first.jobs = 1;
  first.longest = first.work;
  first.before = {0};
  first.is_here = true;
  source.sequential = true;
  for (const std::size_t from : workload.graph.order) {
    const auto at = places.find(from);
    if (at == places.end() || source.nodes[at->second].is_message) {
      continue;
    }
    const std::size_t publisher = at->second;
    std::size_t released = 0;
    for (const std::size_t to : workload.graph.successors[from]) {
      const bool is_message = is_sync(workload, to);
      released += is_message && dispatch == 0 ? 0 : 1;
      GlobalNode& node = node_of(to, is_message);
      const GlobalNode& before = source.nodes[publisher];
      node.count = sum(node.count, before.count);
      node.longest = std::max(node.longest, sum(before.longest, node.work));
      node.jobs = std::max(node.jobs, before.jobs + 1);
      node.lowest = std::min(node.lowest, before.lowest);
      node.is_here = (node.from.empty() || node.is_here) && before.is_here &&
                     executor_of[from] == executor_of[to];
      node.has_hops = node.has_hops || before.has_hops || hop(from, to) > 0;
      node.from.push_back(publisher);
      node.before.insert(node.before.end(), before.before.begin(), before.before.end());
      node.before.push_back(places.at(to));
      std::ranges::sort(node.before);
      node.before.erase(std::ranges::unique(node.before).begin(), node.before.end());
    }
    source.sequential = source.sequential && released <= 1;
  }
  // A node may be found by its first publisher, before the others have theirs. So the nodes are not
  // in the order in which messages pass them, but these callbacks are.
  for (const std::size_t each : workload.graph.order) {
    if (const auto at = places.find(each); at != places.end()) {
      fill_queues(source, source.nodes[at->second]);
    }
  }
  find_inputs(source);
  sources.push_back(std::move(source));
}

/// Sets the most runs of a node that wait, or have begun, at any time: those of its own queue, and
/// those that callbacks before it still bring. The queue of each input holds no more messages than
/// its depth. A set of a sync takes a message of the input that its runs are counted by.
void GlobalSystem::fill_queues(const GlobalSource& source, GlobalNode& node) const {
  if (!has_queues) {
    node.queued = kHorizon;
    return;
  }
  const model::Callback& stated = workload.application.callbacks[node.callback];
  const auto inputs = std::max<std::size_t>(1, model::inputs(stated).size());
  node.queued = static_cast<Ticks>(inputs * queue_depth(stated, false)) + 1;
  node.on_way = overheads.timer_jitter;
  const auto add = [&](const GlobalNode& before) {
    node.queued = sum(node.queued, before.queued);
    node.on_way = std::max(node.on_way, sum(before.on_way, hop(before.callback, node.callback)));
  };
  for (const std::size_t from : node.from) {
    add(source.nodes[from]);
  }
  if (!source.is_sync || !node.from.empty()) {
    return;
  }
  const auto& publishers = workload.graph.publishers[node.callback];
  for (const std::size_t publisher : publishers[workload.rarest_input[node.callback]]) {
    for (const GlobalSource& other : sources) {
      for (const GlobalNode& each : other.nodes) {
        if (each.callback == publisher && !each.is_message) {
          add(each);
        }
      }
    }
  }
}

Ticks GlobalSystem::tail(const GlobalPath& path) const {
  const GlobalNode& last = sources[path.source].nodes[path.nodes.back()];
  const std::optional<int>& most_urgent = executors[path.executor].most_urgent_message;
  const bool may_be_interrupted = most_urgent && *most_urgent > ceiling[last.callback];
  return last.work == 0 || workload.scheduler > 0 || may_be_interrupted ? 1 : 0;
}

std::optional<Ticks> GlobalSystem::ready_after_stamp(const GlobalSource& source) const {
  if (!source.is_sync) {
    return overheads.timer_jitter;
  }
  Ticks result = 0;
  for (const std::vector<GlobalPublisher>& input : source.inputs) {
    for (const GlobalPublisher& each : input) {
      const GlobalNode& publisher = sources[each.source].nodes[each.node];
      result = std::max(result, sum(publisher.response, hop(publisher.callback, source.callback)));
    }
  }
  return result >= kHorizon ? std::nullopt : std::optional(result);
}

Ticks GlobalSystem::hop(std::size_t from, std::size_t to) const {
  return executor_of[from] == executor_of[to] ? overheads.near.max : overheads.far.max;
}

Ticks GlobalSystem::arrival(const GlobalSource& source, std::size_t node) const {
  Ticks result = 0;
  for (const std::size_t from : source.nodes[node].from) {
    const GlobalNode& before = source.nodes[from];
    result =
        std::max(result, sum(before.response, hop(before.callback, source.nodes[node].callback)));
  }
  return result;
}

Ticks GlobalSystem::response_of(std::size_t callback) const {
  Ticks result = 0;
  for (const GlobalSource& source : sources) {
    for (const GlobalNode& node : source.nodes) {
      if (node.callback == callback && !node.is_message) {
        result = std::max(result, node.response);
      }
    }
  }
  return result;
}

}  // namespace rclrt::analysis::detail
