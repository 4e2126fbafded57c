// SPDX-License-Identifier: Apache-2.0
// Search: the shortest paths from one node of a graph to all others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "../data.hpp"

namespace rclrt::workloads::detail {

/// Dijkstra's algorithm (1959) with a heap, on a directed graph that is connected by a ring.
class ShortestPaths {
 public:
  static constexpr std::size_t kNodes = 250;
  static constexpr std::size_t kEdgesOfNode = 5;
  struct Edge {
    std::uint32_t to;
    std::uint32_t length;
  };

  ShortestPaths() {
    Numbers numbers(5);
    for (std::size_t node = 0; node < kNodes; ++node) {
      for (std::size_t edge = 0; edge < kEdgesOfNode; ++edge) {
        const std::uint64_t to = edge == 0 ? (node + 1) % kNodes : numbers.below(kNodes);
        edges[node][edge] = {static_cast<std::uint32_t>(to),
                             static_cast<std::uint32_t>(1 + numbers.below(1000))};
      }
    }
  }

  std::uint64_t run() noexcept {
    distances.fill(UINT32_MAX);
    distances[0] = 0;
    std::size_t size = 0;
    push(size, {0, 0});
    while (size > 0) {
      std::pop_heap(heap_.begin(), heap_.begin() + static_cast<std::ptrdiff_t>(size), farther);
      const auto [distance, node] = heap_[--size];
      if (distance > distances[node]) {
        continue;  // a shorter path to it was found meanwhile
      }
      for (const Edge& edge : edges[node]) {
        const std::uint32_t there = distance + edge.length;
        if (there < distances[edge.to]) {
          distances[edge.to] = there;
          push(size, {there, edge.to});
        }
      }
    }
    return checksum(std::span<const std::uint32_t>(distances));
  }

  std::array<std::array<Edge, kEdgesOfNode>, kNodes> edges{};
  std::array<std::uint32_t, kNodes> distances{};

 private:
  using Entry = std::pair<std::uint32_t, std::uint32_t>;  // distance and node

  static bool farther(const Entry& a, const Entry& b) noexcept { return a > b; }

  void push(std::size_t& size, Entry entry) noexcept {
    heap_[size++] = entry;  // each edge enters at most once
    std::push_heap(heap_.begin(), heap_.begin() + static_cast<std::ptrdiff_t>(size), farther);
  }

  std::array<Entry, kNodes * kEdgesOfNode + 1> heap_{};
};

}  // namespace rclrt::workloads::detail
