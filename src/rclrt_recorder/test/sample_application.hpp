// SPDX-License-Identifier: Apache-2.0
// An application and records made by hand, shared by the tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <rclrt/model/application.hpp>
#include <string>
#include <vector>

#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

enum SampleCallback : std::uint32_t { kScan, kCapture, kFuse, kBrake, kPlan };
enum SampleChain : std::uint32_t { kObstacle, kPlanning };

/// scan and capture feed fuse, fuse feeds brake (same executor, CPU 1) and plan (all CPUs).
inline model::Application sample_application() {
  using std::chrono::milliseconds;
  const model::Timer timer{.period = milliseconds(50), .offset = {}};
  const model::Sync sync{.topics = {"points", "objects"}, .window = milliseconds(300), .depth = 10};
  const model::Subscription fused{.topics = {"fused"}, .depth = 10};
  const auto callback = [](const char* id, std::size_t node, auto trigger,
                           const std::vector<std::string>& publishes) {
    return model::Callback{.id = id,
                           .node = node,
                           .trigger = trigger,
                           .wcet = milliseconds(1),
                           .publishes = publishes,
                           .group = {},
                           .priority = {}};
  };
  return {.name = "vehicle",
          .description = "",
          .executors = {{.name = "main", .cpus = {1}}, {.name = "slow", .cpus = {}}},
          .nodes = {{.name = "sensors", .name_space = "/", .executor = 0},
                    {.name = "planner", .name_space = "/", .executor = 1}},
          .callbacks = {callback("scan", 0, timer, {"points"}),
                        callback("capture", 0, timer, {"objects"}),
                        callback("fuse", 0, sync, {"fused"}), callback("brake", 0, fused, {}),
                        callback("plan", 1, fused, {})},
          .chains = {{.id = "obstacle",
                      .callbacks = {kScan, kFuse, kBrake},
                      .priority = 2,
                      .deadline = milliseconds(40)},
                     {.id = "planning",
                      .callbacks = {kCapture, kFuse, kPlan},
                      .priority = 1,
                      .deadline = milliseconds(50)}},
          .topics = {{.name = "points", .size_bytes = 0},
                     {.name = "objects", .size_bytes = 0},
                     {.name = "fused", .size_bytes = 0}},
          .threads = {}};
}

inline constexpr std::int64_t kMs = 1'000'000;

/// A callback instance that started when it was ready and used all its time on the CPU.
inline InstanceRecord ran(std::uint32_t callback, std::int64_t start_ns, std::int64_t end_ns,
                          std::initializer_list<ChainToken> tokens) {
  InstanceRecord record{.callback = callback,
                        .release_ns = start_ns,
                        .ready_ns = start_ns,
                        .start_ns = start_ns,
                        .end_ns = end_ns,
                        .cpu_ns = end_ns - start_ns,
                        .tokens = {}};
  for (const ChainToken& token : tokens) {
    record.tokens.add(token);
  }
  return record;
}

}  // namespace rclrt::recorder
