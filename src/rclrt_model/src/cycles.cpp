// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "checks.hpp"

namespace rclrt::model::detail {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kMaxShown = 12;

/// Strongly connected components (Tarjan 1972) without recursion: the graph may be deep.
class Components {
 public:
  explicit Components(const Graph& graph)
      : graph_(graph),
        number_(graph.vertex_count(), kNone),
        low_(graph.vertex_count(), 0),
        next_edge_(graph.vertex_count(), 0),
        component_(graph.vertex_count(), kNone) {
    for (std::size_t v = 0; v < graph.vertex_count(); ++v) {
      if (number_[v] == kNone) {
        search(v);
      }
    }
  }

  /// Returns the component of each vertex.
  const std::vector<std::size_t>& of_vertex() const { return component_; }

 private:
  void search(std::size_t root) {
    enter(root);
    while (!path_.empty()) {
      const std::size_t v = path_.back();
      if (next_edge_[v] < graph_.successors(v).size()) {
        const std::size_t w = graph_.successors(v)[next_edge_[v]++];
        if (number_[w] == kNone) {
          enter(w);
        } else if (component_[w] == kNone) {
          low_[v] = std::min(low_[v], number_[w]);
        }
      } else {
        path_.pop_back();
        if (!path_.empty()) {
          low_[path_.back()] = std::min(low_[path_.back()], low_[v]);
        }
        if (low_[v] == number_[v]) {
          finish(v);
        }
      }
    }
  }

  void enter(std::size_t v) {
    number_[v] = low_[v] = counter_++;
    path_.push_back(v);
    open_.push_back(v);
  }

  void finish(std::size_t root) {
    std::size_t v = kNone;
    do {
      v = open_.back();
      open_.pop_back();
      component_[v] = components_;
    } while (v != root);
    ++components_;
  }

  const Graph& graph_;
  std::vector<std::size_t> number_;
  std::vector<std::size_t> low_;
  std::vector<std::size_t> next_edge_;
  std::vector<std::size_t> component_;
  std::vector<std::size_t> path_;  ///< from the root of the search to the current vertex
  std::vector<std::size_t> open_;  ///< visited, component not yet known
  std::size_t counter_ = 0;
  std::size_t components_ = 0;
};

/// Returns the callbacks of a shortest cycle through the vertex `start`, without leaving the
/// strongly connected component of `start`. Empty if there is no cycle.
std::vector<std::size_t> shortest_cycle(const Graph& graph, std::size_t start,
                                        const std::vector<std::size_t>& component,
                                        std::vector<std::size_t>& came_from) {
  std::vector<std::size_t> queue{start};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::size_t v = queue[next];
    for (const std::size_t w : graph.successors(v)) {
      if (w == start) {
        std::vector<std::size_t> cycle;
        for (std::size_t u = v; u != start; u = came_from[u]) {
          if (graph.is_callback(u)) {
            cycle.push_back(u);
          }
        }
        cycle.push_back(start);
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (component[w] == component[start] && came_from[w] == kNone) {
        came_from[w] = v;
        queue.push_back(w);
      }
    }
  }
  return {};
}

std::string describe(const std::vector<std::size_t>& cycle, const Application& application) {
  std::string text;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (i == kMaxShown && cycle.size() > kMaxShown + 1) {
      text += "(" + std::to_string(cycle.size() - kMaxShown) + " more) -> ";
      break;
    }
    text += in_quotes(application.callbacks[cycle[i]].id) + " -> ";
  }
  return text + in_quotes(application.callbacks[cycle.front()].id);
}

}  // namespace

void check_cycles(const Draft& draft, const Graph& graph, Context& context) {
  const Components components(graph);
  const auto& component = components.of_vertex();
  std::vector<bool> judged(graph.vertex_count(), false);
  std::vector<std::size_t> came_from(graph.vertex_count(), kNone);
  for (std::size_t v = 0; v < graph.callback_count(); ++v) {
    if (judged[component[v]]) {
      continue;
    }
    judged[component[v]] = true;
    const auto cycle = shortest_cycle(graph, v, component, came_from);
    if (cycle.empty()) {
      continue;
    }
    context.diagnostics.report(draft.callbacks[v].id,
                               "the callbacks form a cycle: " + describe(cycle, draft.application),
                               "a graph in which no callback triggers itself");
  }
}

}  // namespace rclrt::model::detail
