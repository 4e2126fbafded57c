// SPDX-License-Identifier: Apache-2.0
// The paths through the callbacks of a source.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "bounds/global_system.hpp"

namespace rclrt::analysis::detail {

Ticks GlobalSystem::shortest_time(std::size_t source, Ticks count) const {
  return detail::shortest_time(sources[source].arrivals.front().releases, count);
}

std::optional<GlobalPath> GlobalSystem::path_to(std::size_t source, std::size_t node) const {
  const GlobalNode& last = sources[source].nodes[node];
  const std::size_t executor = executor_of[last.callback];
  GlobalPath path{.executor = executor,
                  .source = source,
                  .nodes = last.before,
                  .single = last.count == 1,
                  .work = last.longest,
                  .jobs = last.jobs,
                  .priority = last.lowest,
                  .ready = overheads.timer_jitter};
  std::erase(path.nodes, node);
  path.nodes.push_back(node);
  const auto is_elsewhere = [&](std::size_t each) {
    return executor_of[sources[source].nodes[each].callback] != executor;
  };
  const auto elsewhere = std::ranges::find_if(path.nodes.rbegin(), path.nodes.rend(), is_elsewhere);
  if (elsewhere == path.nodes.rend()) {
    return path;
  }
  if (!path.single) {
    return std::nullopt;
  }
  const auto begin = static_cast<std::size_t>(path.nodes.rend() - elsewhere);
  return part_of(path, begin, path.nodes.size(), arrival(sources[source], path.nodes[begin]));
}

GlobalPath GlobalSystem::path_of(std::size_t source, std::size_t node, Ticks ready) const {
  const GlobalNode& last = sources[source].nodes[node];
  GlobalPath path{.executor = executor_of[last.callback],
                  .source = source,
                  .nodes = last.before,
                  .single = last.count == 1,
                  .work = last.work,
                  .jobs = 1,
                  .priority = priority[last.callback],
                  .ready = ready};
  std::erase(path.nodes, node);
  path.begin = path.nodes.size();
  path.nodes.push_back(node);
  return path;
}

std::optional<GlobalPath> GlobalSystem::part_of(const GlobalPath& path, std::size_t begin,
                                                std::size_t end, Ticks ready) const {
  const auto callback_at = [&](std::size_t i) {
    return sources[path.source].nodes[path.nodes[i]].callback;
  };
  GlobalPath part{.executor = executor_of[callback_at(begin)],
                  .source = path.source,
                  .begin = begin,
                  .single = true,
                  .priority = priority[callback_at(begin)],
                  .ready = ready};
  part.nodes.assign(path.nodes.begin(), path.nodes.begin() + static_cast<std::ptrdiff_t>(end));
  for (std::size_t i = begin; i < end; ++i) {
    if (executor_of[callback_at(i)] != part.executor) {
      return std::nullopt;
    }
    part.work = sum(part.work, sources[path.source].nodes[path.nodes[i]].work);
    part.priority = std::min(part.priority, priority[callback_at(i)]);
    ++part.jobs;
  }
  return part;
}

std::optional<GlobalPath> GlobalSystem::path_along(std::span<const std::size_t> callbacks) const {
  const auto source = std::ranges::find(sources, callbacks.front(), &GlobalSource::callback);
  if (source == sources.end()) {
    return std::nullopt;
  }
  GlobalPath path{.source = static_cast<std::size_t>(source - sources.begin()), .single = true};
  for (const std::size_t callback : callbacks) {
    const auto at = std::ranges::find_if(source->nodes, [&](const GlobalNode& node) {
      return node.callback == callback && !node.is_message;
    });
    if (at == source->nodes.end()) {
      return std::nullopt;
    }
    path.nodes.push_back(static_cast<std::size_t>(at - source->nodes.begin()));
  }
  return path;
}

}  // namespace rclrt::analysis::detail
