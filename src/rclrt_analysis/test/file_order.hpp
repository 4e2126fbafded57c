// SPDX-License-Identifier: Apache-2.0
// The same application with its lists in another order, for tests of what must not depend on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

class FileOrder {
 public:
  explicit FileOrder(std::uint64_t seed) : random_(seed) {}

  /// Changes the order of executors, nodes, callbacks, chains and topics.
  void change(model::Application& application) {
    const auto executors = move(application.executors);
    for (model::Node& node : application.nodes) {
      node.executor = executors[node.executor];
    }
    const auto nodes = move(application.nodes);
    for (model::Callback& callback : application.callbacks) {
      callback.node = nodes[callback.node];
      if (callback.executor) {
        callback.executor = executors[*callback.executor];
      }
      change(callback);
    }
    const auto callbacks = move(application.callbacks);
    for (model::Chain& chain : application.chains) {
      for (std::size_t& each : chain.callbacks) {
        each = callbacks[each];
      }
    }
    move(application.chains);
  }

 private:
  void change(model::Callback& callback) {
    const auto outputs = move(callback.publishes);
    for (auto& route : callback.routes) {
      for (std::size_t& each : route) {
        each = outputs[each];
      }
      std::ranges::sort(route);
    }
    if (auto* const sync = std::get_if<model::Sync>(&callback.trigger)) {
      change_inputs(callback, sync->topics);
    } else if (auto* const taken = std::get_if<model::Subscription>(&callback.trigger)) {
      change_inputs(callback, taken->topics);
    }
  }

  void change_inputs(model::Callback& callback, std::vector<std::string>& topics) {
    const auto inputs = move(topics);
    const auto routes = callback.routes;
    for (std::size_t i = 0; i < routes.size(); ++i) {
      callback.routes[inputs[i]] = routes[i];
    }
  }

  /// Changes the order of a list. Returns the new place of each element.
  template <typename Element>
  std::vector<std::size_t> move(std::vector<Element>& list) {
    std::vector<std::size_t> places(list.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::shuffle(places, random_);
    std::vector<Element> moved(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      moved[places[i]] = list[i];
    }
    list = std::move(moved);
    return places;
  }

  std::mt19937_64 random_;
};

}  // namespace rclrt::analysis
