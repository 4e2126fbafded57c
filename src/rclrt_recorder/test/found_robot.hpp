// SPDX-License-Identifier: Apache-2.0
// A robot of which a recording finds the application, and its instances.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <rclrt/model/parse.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "random_run.hpp"
#include "rclrt/recorder/lineage.hpp"
#include "rclrt/recorder/recording_stream.hpp"
#include "rclrt/recorder/run_accounting.hpp"

namespace rclrt::recorder {

enum RobotCallback : std::uint32_t { kLidar, kFilter, kStop, kNoise };

inline constexpr std::int64_t kRobotPeriod = 10 * kMs;

/// A timer at 100 Hz, two callbacks behind it, and another timer; with the chain over the three.
inline model::Application stated_robot() {
  return model::parse_application(R"(
rclrt: 1
name: robot
executors: [{name: main, cpus: [0, 1]}]
nodes: [{name: lidar}, {name: planner}]
callbacks:
  - {id: scan, node: lidar, timer: {period_ms: 10}, wcet_ms: 1, publishes: [/points]}
  - {id: filter, node: planner, subscription: {topic: /points}, wcet_ms: 1, publishes: [/stop]}
  - {id: brake, node: planner, subscription: {topic: /stop}, wcet_ms: 1}
  - {id: noise, node: lidar, timer: {period_ms: 5}, wcet_ms: 1}
chains:
  - {id: obstacle, callbacks: [scan, filter, brake], priority: 2, deadline_ms: 6}
  - {id: noise, callbacks: [noise], priority: 1, deadline_ms: 5}
)")
      .application.value();
}

/// The same as a recording without a file finds it: nothing is known of what callbacks publish, and
/// the timers are chains of their own.
inline model::Application found_robot() {
  model::Application application = stated_robot();
  for (model::Callback& callback : application.callbacks) {
    callback.publishes.clear();
  }
  application.chains.erase(application.chains.begin());
  application.chains.insert(
      application.chains.begin(),
      {.id = "scan", .callbacks = {kLidar}, .deadline = model::Nanoseconds(kRobotPeriod)});
  return application;
}

/// The topics on which each node has publishers.
inline std::vector<std::set<std::string>> robot_publications() { return {{"/points"}, {"/stop"}}; }

/// Makes the instances of one period after the other, each in the order of ends.
class RobotSource {
 public:
  explicit RobotSource(std::mt19937& random, bool is_perfect = false)
      : random_(random), is_perfect_(is_perfect) {}

  /// Appends the instances of a period to `instances`.
  void next(std::vector<LoggedInstance>& instances) {
    const std::size_t before = instances.size();
    const std::int64_t release_ns = kStart + 3 * kMs + period_ * kRobotPeriod;
    ++period_;
    for (const std::int64_t half : {0, 1}) {
      if (!one_in(40)) {
        const std::int64_t noise_ns = release_ns + half * kRobotPeriod / 2;
        add(instances, kNoise, noise_ns, noise_ns + some(2'000'000), 200'000);
      }
    }
    if (!one_in(30)) {
      const std::int64_t start_ns = release_ns + some(500'000);
      add(instances, kLidar, release_ns, start_ns, 700'000);
      const std::int64_t points_ns = start_ns + 600'000;
      if (!one_in(20)) {
        const std::int64_t filter_ns = points_ns + 200'000 + some(300'000);
        add(instances, kFilter, points_ns + 20'000, filter_ns, 900'000).published_ns = points_ns;
        const std::int64_t stop_ns = filter_ns + 800'000;
        if (!one_in(20)) {
          add(instances, kStop, stop_ns + 20'000, stop_ns + 200'000, kMs + some(5'000'000))
              .published_ns = stop_ns;
        }
      }
    }
    std::ranges::stable_sort(instances.begin() + static_cast<std::ptrdiff_t>(before),
                             instances.end(), {},
                             [](const auto& one) { return one.record.end_ns; });
  }

 private:
  bool one_in(unsigned number) { return !is_perfect_ && random_() % number == 0; }
  std::int64_t some(std::int64_t most_ns) {
    return static_cast<std::int64_t>(random_() % static_cast<unsigned>(most_ns));
  }

  LoggedInstance& add(std::vector<LoggedInstance>& instances, RobotCallback callback,
                      std::int64_t release_ns, std::int64_t start_ns, std::int64_t length_ns) {
    LoggedInstance& added = instances.emplace_back();
    added.record = ran(callback, start_ns, start_ns + length_ns, {});
    added.record.id = ++id_;
    added.record.release_ns = added.record.ready_ns = release_ns;
    added.record.cpu_ns = length_ns;
    added.record.level = callback == kNoise ? 1 : 2;
    return added;
  }

  std::mt19937& random_;
  const bool is_perfect_;
  std::int64_t period_ = 0;
  std::uint64_t id_ = 0;
};

inline std::vector<LoggedInstance> robot_run(std::mt19937& random, std::int64_t periods) {
  RobotSource source(random);
  std::vector<LoggedInstance> instances;
  for (std::int64_t i = 0; i < periods; ++i) {
    source.next(instances);
  }
  std::ranges::stable_sort(instances, {}, [](const auto& one) { return one.record.end_ns; });
  return instances;
}

/// Adds the instances to a stream in small portions, and settles what is certain after each.
inline void add_in_portions(RecordingStream& stream, std::span<const LoggedInstance> instances) {
  constexpr std::size_t kPortion = 41;
  for (std::size_t i = 0; i < instances.size(); i += kPortion) {
    stream.add(instances.subspan(i, std::min(kPortion, instances.size() - i)));
    stream.advance();
  }
}

/// Returns the results of a recording that keeps everything.
inline RunResults recorded(const RunResults& frame, std::vector<LoggedInstance> instances,
                           const std::vector<bool>& going_on) {
  RunResults results = frame;
  follow_chains(results.application, results.window, instances, going_on);
  account(results, std::move(instances), 2);
  return results;
}

}  // namespace rclrt::recorder
