// SPDX-License-Identifier: Apache-2.0
#include "callback_graph.hpp"

#include <map>
#include <stdexcept>
#include <string>

namespace rclrt::analysis::detail {

CallbackGraph::CallbackGraph(const model::Application& application) {
  const auto& callbacks = application.callbacks;
  std::map<std::string, std::vector<std::size_t>> by_topic;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    for (const std::string& topic : callbacks[i].publishes) {
      by_topic[topic].push_back(i);
    }
  }
  successors.resize(callbacks.size());
  publishers.resize(callbacks.size());
  std::vector<std::size_t> missing(callbacks.size());
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    for (const std::string& topic : model::inputs(callbacks[i])) {
      publishers[i].push_back(by_topic[topic]);
      for (const std::size_t from : publishers[i].back()) {
        successors[from].push_back(i);
      }
      missing[i] += publishers[i].back().size();
    }
    if (missing[i] == 0) {
      order.push_back(i);
    }
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (const std::size_t to : successors[order[next]]) {
      if (--missing[to] == 0) {
        order.push_back(to);
      }
    }
  }
  if (order.size() != callbacks.size()) {
    throw std::invalid_argument("the application's graph has a cycle; expected none");
  }
}

}  // namespace rclrt::analysis::detail
