// SPDX-License-Identifier: Apache-2.0
// The graph of callbacks and topics. Both are vertices, so a topic with many publishers and many
// subscribers costs their sum and not their product.
#pragma once

#include <cstddef>
#include <vector>

#include "rclrt/model/application.hpp"

namespace rclrt::model::detail {

class Graph {
 public:
  explicit Graph(const Application& application);

  std::size_t callback_count() const { return callback_count_; }
  std::size_t vertex_count() const { return successors_.size(); }
  bool is_callback(std::size_t vertex) const { return vertex < callback_count_; }

  /// Returns the topics that a callback publishes, or the callbacks that take a topic; ascending.
  const std::vector<std::size_t>& successors(std::size_t vertex) const {
    return successors_[vertex];
  }

  /// Returns the topics that trigger a callback, in the order of inputs().
  const std::vector<std::size_t>& input_topics(std::size_t callback) const {
    return input_topics_[callback];
  }

  /// Returns the topics that a callback publishes, in the order of Callback::publishes.
  const std::vector<std::size_t>& output_topics(std::size_t callback) const {
    return output_topics_[callback];
  }

  /// Returns whether every topic that triggers the callback has a publisher.
  bool has_publishers(std::size_t callback) const;

  /// Returns whether a message of the first callback triggers the second.
  bool has_edge(std::size_t from, std::size_t to) const;

  /// Returns every vertex after all its predecessors, without the vertices on or behind a cycle.
  std::vector<std::size_t> topological_order() const;

 private:
  std::size_t callback_count_;
  std::vector<std::vector<std::size_t>> successors_;
  std::vector<std::vector<std::size_t>> input_topics_;
  std::vector<std::vector<std::size_t>> output_topics_;
  std::vector<bool> is_published_;  ///< of a topic's vertex
};

}  // namespace rclrt::model::detail
