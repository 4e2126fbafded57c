// SPDX-License-Identifier: Apache-2.0
#include "bounds/global_system.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace rclrt::analysis::detail {

Ticks GlobalSource::instances(Ticks x, Ticks response) const {
  Ticks result = 0;
  for (const GlobalArrivals& each : arrivals) {
    const Ticks releases = each.releases.before(sum(x, sum(response, earlier)));
    result = sum(result, product(releases, each.count));
  }
  return result;
}

GlobalSystem::GlobalSystem(const Workload& all, const std::vector<std::size_t>& callbacks,
                           std::size_t cpu_count, Pool threads, const Overheads& costs)
    : workload(all),
      here(all.wcet.size()),
      cpus(static_cast<Ticks>(cpu_count)),
      pool(threads),
      overheads(costs),
      dispatch(all.dispatch - all.scheduler),
      members(all.wcet.size()) {
  std::map<std::pair<std::size_t, std::string>, std::vector<std::size_t>> groups;
  for (const std::size_t callback : callbacks) {
    here[callback] = true;
    const model::Callback& stated = all.application.callbacks[callback];
    if (stated.group) {
      groups[{stated.node, *stated.group}].push_back(callback);
    }
  }
  for (const auto& [key, group] : groups) {
    for (const std::size_t callback : group) {
      members[callback] = group;
      std::erase(members[callback], callback);
    }
  }
  for (const std::size_t callback : all.graph.order) {
    const bool starts = all.graph.publishers[callback].empty() || is_sync(all, callback);
    if (here[callback] && starts && !all.runs[callback].empty()) {
      add_source(callback);
    }
  }
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
      source.nodes.push_back({.callback = to,
                              .is_message = is_message,
                              .work = work,
                              .lowest = workload.priority[to]});
    }
    return source.nodes[at->second];
  };
  GlobalNode& first = node_of(callback, false);
  first.count = first.jobs = 1;
  first.longest = first.work;
  first.before = {0};
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
      node.from.push_back(publisher);
      node.before.insert(node.before.end(), before.before.begin(), before.before.end());
      node.before.push_back(places.at(to));
      std::ranges::sort(node.before);
      node.before.erase(std::ranges::unique(node.before).begin(), node.before.end());
    }
    source.sequential = source.sequential && released <= 1;
  }
  sources.push_back(std::move(source));
}

Ticks GlobalSystem::tail(const GlobalPath& path) const {
  const GlobalNode& last = sources[path.source].nodes[path.nodes.back()];
  const int level = workload.ceiling[last.callback];
  if (last.work == 0 || workload.scheduler > 0) {
    return 1;
  }
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (here[i] && workload.priority[i] > level && !workload.graph.publishers[i].empty()) {
      return 1;
    }
  }
  return 0;
}

std::optional<Ticks> GlobalSystem::ready_after_stamp(const GlobalSource& source) const {
  if (!source.is_sync) {
    return overheads.timer_jitter;
  }
  Ticks result = 0;
  for (const auto& input : workload.graph.publishers[source.callback]) {
    for (const std::size_t publisher : input) {
      result = std::max(result, response_of(publisher));
    }
  }
  return result >= kHorizon ? std::nullopt : std::optional(sum(result, overheads.near.max));
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

GlobalPath GlobalSystem::path_to(std::size_t source, std::size_t node) const {
  const GlobalNode& last = sources[source].nodes[node];
  GlobalPath path{.source = source,
                  .nodes = last.before,
                  .single = last.count == 1,
                  .work = last.longest,
                  .jobs = last.jobs,
                  .level = last.lowest,
                  .ready = overheads.timer_jitter};
  std::erase(path.nodes, node);
  path.nodes.push_back(node);
  return path;
}

GlobalPath GlobalSystem::path_of(std::size_t source, std::size_t node, Ticks ready) const {
  GlobalPath path = path_to(source, node);
  path.begin = path.nodes.size() - 1;
  path.work = sources[source].nodes[node].work;
  path.jobs = 1;
  path.level = workload.priority[sources[source].nodes[node].callback];
  path.ready = ready;
  return path;
}

GlobalPath GlobalSystem::part_of(const GlobalPath& path, std::size_t begin, std::size_t end,
                                 Ticks ready) const {
  GlobalPath part{.source = path.source, .begin = begin, .single = true, .ready = ready};
  part.nodes.assign(path.nodes.begin(), path.nodes.begin() + static_cast<std::ptrdiff_t>(end));
  part.level = workload.priority[sources[path.source].nodes[path.nodes[begin]].callback];
  for (std::size_t i = begin; i < end; ++i) {
    const GlobalNode& node = sources[path.source].nodes[path.nodes[i]];
    part.work = sum(part.work, node.work);
    part.level = std::min(part.level, workload.priority[node.callback]);
    ++part.jobs;
  }
  return part;
}

std::optional<GlobalPath> GlobalSystem::path_along(std::span<const std::size_t> callbacks) const {
  const auto source = std::ranges::find(sources, callbacks.front(), &GlobalSource::callback);
  if (source == sources.end()) {
    return std::nullopt;
  }
  GlobalPath path{.source = static_cast<std::size_t>(source - sources.begin()),
                  .single = true,
                  .level = workload.lowest(callbacks)};
  for (const std::size_t callback : callbacks) {
    const auto at = std::ranges::find_if(source->nodes, [&](const GlobalNode& node) {
      return node.callback == callback && !node.is_message;
    });
    if (at == source->nodes.end()) {
      return std::nullopt;
    }
    path.nodes.push_back(static_cast<std::size_t>(at - source->nodes.begin()));
    path.work = sum(path.work, at->work);
    ++path.jobs;
  }
  return path;
}

}  // namespace rclrt::analysis::detail
