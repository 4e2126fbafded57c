// SPDX-License-Identifier: Apache-2.0
/// Compares the cycle search with a simple independent one on random graphs.
#include <gtest/gtest.h>

#include <random>

#include "rclrt/model/parse.hpp"

namespace rclrt::model {
namespace {

using Edges = std::vector<std::vector<bool>>;

/// Callback i publishes topic t<i>; for an edge i -> j, callback j takes t<i>. A callback without
/// an incoming edge is a timer, and one with two is a sync; there are never more.
std::string application(const Edges& edges) {
  std::string yaml = "rclrt: 1\nname: random\nnodes: [{name: n}]\ncallbacks:\n";
  yaml += "  - {id: start, node: n, timer: {period_ms: 50}, wcet_ms: 0}\n";
  for (std::size_t j = 0; j < edges.size(); ++j) {
    std::vector<std::string> topics;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (edges[i][j]) {
        topics.push_back("t" + std::to_string(i));
      }
    }
    std::string trigger = "timer: {period_ms: 50}";
    if (topics.size() == 1) {
      trigger = "subscription: {topic: " + topics[0] + "}";
    }
    if (topics.size() == 2) {
      trigger = "sync: {topics: [" + topics[0] + ", " + topics[1] + "]}";
    }
    const std::string number = std::to_string(j);
    yaml.append("  - {id: c").append(number).append(", node: n, ").append(trigger);
    yaml.append(", wcet_ms: 0, publishes: [t").append(number).append("]}\n");
  }
  return yaml + "chains: [{id: c, callbacks: [start], priority: 0}]\n";
}

Edges random_edges(std::mt19937& random, std::size_t size) {
  Edges edges(size, std::vector<bool>(size, false));
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t count = random() % 3; count > 0; --count) {
      edges[random() % size][j] = true;
    }
  }
  return edges;
}

/// Returns the callbacks that each callback reaches (Warshall 1962).
Edges reachable(Edges edges) {
  for (std::size_t k = 0; k < edges.size(); ++k) {
    for (std::size_t i = 0; i < edges.size(); ++i) {
      for (std::size_t j = 0; j < edges.size(); ++j) {
        if (edges[i][k] && edges[k][j]) {
          edges[i][j] = true;
        }
      }
    }
  }
  return edges;
}

/// Returns the number of groups of callbacks that reach each other and themselves.
std::size_t knots(const Edges& edges) {
  const Edges reach = reachable(edges);
  std::size_t count = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!reach[i][i]) {
      continue;
    }
    bool first = true;
    for (std::size_t j = 0; j < i; ++j) {
      first = first && !(reach[i][j] && reach[j][i]);
    }
    if (first) {
      ++count;
    }
  }
  return count;
}

TEST(Cycles, AreReportedOncePerKnotOnRandomGraphs) {
  // The same every time. NOLINTNEXTLINE(bugprone-random-generator-seed)
  std::mt19937 random(53);
  std::size_t with_cycle = 0;
  std::size_t without = 0;
  for (int round = 0; round < 2000; ++round) {
    const Edges edges = random_edges(random, 1 + random() % 9);
    const auto result = parse_application(application(edges));
    const std::size_t expected = knots(edges);
    ASSERT_EQ(result.diagnostics.size(), expected) << application(edges);
    ASSERT_EQ(result.application.has_value(), expected == 0);
    for (const Diagnostic& diagnostic : result.diagnostics) {
      ASSERT_TRUE(diagnostic.message.starts_with("the callbacks form a cycle: "));
    }
    ++(expected > 0 ? with_cycle : without);
  }
  EXPECT_GT(with_cycle, 200U) << "the test must see both kinds";
  EXPECT_GT(without, 200U);
}

TEST(Cycles, AreShownAsTheShortestWayRound) {
  Edges edges(4, std::vector<bool>(4, false));
  edges[0][1] = edges[1][2] = edges[2][3] = edges[3][0] = edges[1][0] = true;
  const auto result = parse_application(application(edges));
  ASSERT_EQ(result.diagnostics.size(), 1U);
  EXPECT_EQ(result.diagnostics[0].message,
            "the callbacks form a cycle: 'c0' -> 'c1' -> 'c0'; expected a graph in which no "
            "callback triggers itself");
}

TEST(Cycles, AreShortenedWhenTheyAreLong) {
  constexpr std::size_t kSize = 20;
  Edges edges(kSize, std::vector<bool>(kSize, false));
  for (std::size_t i = 0; i < kSize; ++i) {
    edges[i][(i + 1) % kSize] = true;
  }
  const auto result = parse_application(application(edges));
  ASSERT_EQ(result.diagnostics.size(), 1U);
  EXPECT_NE(result.diagnostics[0].message.find("'c11' -> (8 more) -> 'c0'; expected"),
            std::string::npos)
      << result.diagnostics[0].message;
}

}  // namespace
}  // namespace rclrt::model
