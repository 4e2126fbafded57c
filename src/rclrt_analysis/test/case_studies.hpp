// SPDX-License-Identifier: Apache-2.0
// Applications from the literature about several CPUs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "application_builder.hpp"

namespace rclrt::analysis {

/// Returns the application with its only executor on CPU 0 and those above it.
inline model::Application on_cpus(model::Application application, int cpus) {
  application.executors[0].cpus.clear();
  for (int cpu = 0; cpu < cpus; ++cpu) {
    application.executors[0].cpus.push_back(cpu);
  }
  return application;
}

/// The case study of Jiang et al., RTSS 2022.
inline model::Application case_study_of_jiang() {
  return Builder()
      .timer("a0", 100, 23.1)
      .subscription("a1", "a0", 7.9)
      .timer("b0", 100, 20.6)
      .subscription("b1", "b0", 17.9)
      .subscription("b2", "b1", 6.6)
      .timer("c0", 160, 1.7)
      .subscription("c1", "c0", 11)
      .subscription("c2", "c1", 6.6)
      .subscription("c3", "c2", 7.9)
      .chain("a", {"a0", "a1"}, 3)
      .chain("b", {"b0", "b1", "b2"}, 2)
      .chain("c", {"c0", "c1", "c2", "c3"}, 1)
      .done();
}

/// The case study of Sobhani et al., RTAS 2023.
inline model::Application case_study_of_sobhani() {
  Builder builder;
  const std::vector<std::pair<double, std::vector<std::pair<double, int>>>> chains{
      {50, {{3.123, 8}, {3.119, 12}}},
      {50, {{3.123, 8}, {4.094, 9}, {4.769, 10}, {5.928, 11}}},
      {100, {{11.097, 5}, {12.094, 6}, {12.088, 7}}},
      {200, {{21.062, 1}, {41.005, 2}, {42.023, 3}, {22.069, 4}}}};
  std::vector<std::vector<std::string>> ways;
  for (const auto& [period, callbacks] : chains) {
    std::vector<std::string>& way = ways.emplace_back();
    for (const auto& [wcet, priority] : callbacks) {
      const std::string id = "c" + std::to_string(ways.size()) + "_" + std::to_string(way.size());
      way.empty() ? builder.timer(id, period, wcet) : builder.subscription(id, way.back(), wcet);
      builder.priority(priority);
      way.push_back(id);
    }
  }
  for (std::size_t i = 0; i < ways.size(); ++i) {
    builder.chain("chain" + std::to_string(i + 1), ways[i], 1);
  }
  return builder.done();
}

}  // namespace rclrt::analysis
