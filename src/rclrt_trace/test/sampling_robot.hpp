// SPDX-License-Identifier: Apache-2.0
// A traced robot of which a timer samples what a subscription took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rclrt/recorder/results.hpp"
#include "robot.hpp"
#include "traced_results.hpp"

namespace rclrt::trace {

/// A camera of 10 ms, a planner that takes its images and publishes paths by a timer of 20 ms, and
/// a motor that takes these.
struct Sampling : Robot {
  Sampling() {
    node(1, "camera");
    publisher(10, 1, "/images");
    timer(20, 1, 10 * kMs, 21);
    node(2, "planner");
    subscription(30, 2, "/images", 31);
    publisher(11, 2, "/path");
    timer(40, 2, 20 * kMs, 41);
    node(3, "motor");
    subscription(50, 3, "/path", 51);
  }

  void image(std::uint64_t stamp) {
    start(21);
    publish(10, stamp);
    end(21, kMs);
    take(30, stamp);
    start(31);
    end(31, kMs);
  }

  void plan(std::uint64_t stamp) {
    start(41);
    publish(11, stamp);
    end(41, 2 * kMs);
    take(50, stamp);
    start(51);
    end(51, kMs);
  }

  /// Two images and a path every 20 ms, for 100 ms.
  void run() {
    run_with([this](std::uint64_t stamp) { image(stamp); },
             [this](std::uint64_t stamp) { plan(stamp); });
  }

  /// The same with other functions, which get the stamps.
  template <typename Image, typename Path>
  void run_with(Image of_image, Path of_path) {
    const std::int64_t begin_ns = now_ns;
    for (std::uint64_t i = 1; i <= 5; ++i) {
      now_ns = begin_ns + static_cast<std::int64_t>(i) * 20 * kMs;
      of_image(2 * i);
      of_path(i);
      now_ns = begin_ns + static_cast<std::int64_t>(i) * 20 * kMs + 10 * kMs;
      of_image(2 * i + 1);
    }
  }
};

inline std::vector<std::string> path_of(const model::Application& application, std::size_t chain) {
  std::vector<std::string> ids;
  for (const std::size_t each : application.cause_effect_chains.at(chain).callbacks) {
    ids.push_back(application.callbacks[each].id);
  }
  return ids;
}

inline std::vector<model::CauseEffectOutput> outputs_of(Robot& robot) {
  std::vector<std::string> notes;
  const recorder::RunResults results = trace_results(
      robot.system, robot.model(), model::ExecutorKind::kPreemptive, ReadCounts{}, notes);
  recorder::require_consistent(results);
  return results.cause_effect_chains.at(0).found.outputs;
}

}  // namespace rclrt::trace
