// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace rclrt::model::detail {

Graph::Graph(const Application& application)
    : callback_count_(application.callbacks.size()),
      successors_(callback_count_),
      input_topics_(callback_count_),
      output_topics_(callback_count_),
      is_published_(callback_count_, false) {
  std::map<std::string, std::size_t, std::less<>> vertices;
  const auto vertex_of = [&](const std::string& topic) {
    const auto [entry, inserted] = vertices.try_emplace(topic, successors_.size());
    if (inserted) {
      successors_.emplace_back();
      is_published_.push_back(false);
    }
    return entry->second;
  };
  for (std::size_t i = 0; i < callback_count_; ++i) {
    const Callback& callback = application.callbacks[i];
    for (const std::string& topic : inputs(callback)) {
      const std::size_t vertex = vertex_of(topic);
      input_topics_[i].push_back(vertex);
      successors_[vertex].push_back(i);
    }
    for (const std::string& topic : callback.publishes) {
      const std::size_t vertex = vertex_of(topic);
      output_topics_[i].push_back(vertex);
      is_published_[vertex] = true;
    }
    successors_[i] = output_topics_[i];
    std::sort(successors_[i].begin(), successors_[i].end());
  }
}

bool Graph::has_publishers(std::size_t callback) const {
  const auto& topics = input_topics_[callback];
  return std::all_of(topics.begin(), topics.end(),
                     [&](std::size_t topic) { return is_published_[topic]; });
}

bool Graph::has_edge(std::size_t from, std::size_t to) const {
  const auto& published = successors_[from];
  return std::any_of(input_topics_[to].begin(), input_topics_[to].end(), [&](std::size_t topic) {
    return std::binary_search(published.begin(), published.end(), topic);
  });
}

std::vector<std::size_t> Graph::topological_order() const {
  std::vector<std::size_t> incoming(vertex_count(), 0);
  for (const auto& targets : successors_) {
    for (const std::size_t target : targets) {
      ++incoming[target];
    }
  }
  std::vector<std::size_t> order;
  order.reserve(vertex_count());
  for (std::size_t v = 0; v < vertex_count(); ++v) {
    if (incoming[v] == 0) {
      order.push_back(v);
    }
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (const std::size_t target : successors_[order[next]]) {
      if (--incoming[target] == 0) {
        order.push_back(target);
      }
    }
  }
  return order;
}

}  // namespace rclrt::model::detail
