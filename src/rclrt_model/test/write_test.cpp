// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/write.hpp"

#include <gtest/gtest.h>

#include "mutator.hpp"
#include "rclrt/model/parse.hpp"
#include "test_files.hpp"

namespace rclrt::model {
namespace {

void expect_round_trip(const Application& application) {
  const std::string text = to_yaml(application);
  const ParseResult read = parse_application(text);
  ASSERT_TRUE(read.application) << (read.diagnostics.empty()
                                        ? ""
                                        : to_string(read.diagnostics.front(), "written"))
                                << "\n"
                                << text;
  EXPECT_EQ(*read.application, application) << text;
}

TEST(Write, TheExamplesAreTheSameAgain) {
  std::size_t applications = 0;
  for (const auto& file : test::example_files()) {
    const auto read = parse_application(test::read_file(file));
    if (!read.application) {
      continue;  // another kind of file
    }
    ++applications;
    expect_round_trip(*read.application);
  }
  EXPECT_GE(applications, 6U);
}

TEST(Write, EveryKeyThatDiffersFromItsDefaultIsKept) {
  const auto read = parse_application(R"(rclrt: 1
name: "yes"
description: "a: \"b\" \\ \u2028 \x07 \n # c"
hosts: [{name: near, cpus: [1, 2, 3]}, {name: away, address: "fe80::1%eth0", clock_error_ms: 0.25}]
links: [{name: cable, between: [away, near], rate_kbit: 100000, shaper: {rate_kbit: 20000, burst_bytes: 9000},
         latency_ms: 0.5, min_latency_ms: 0.25, access_ms: 1, order: priority, mtu_bytes: 8000, header_bytes: 90,
         framing_bytes: 14, cross_traffic: [{from: near, rate_kbit: 0, burst_bytes: 5},
                                            {from: away, rate_kbit: 7, burst_bytes: 1, priority: 3}]}]
executors:
  - {name: one, host: near, cpus: [3, 1], scheduler_cpus: [2], process: far}
  - {name: two, host: away, top_priority: 80}
  - {name: three, host: away}
nodes: [{name: n, namespace: /a/b, executor: two}, {name: "null", executor: one}]
callbacks:
  - {id: t, node: n, timer: {period_ms: 0.000001, offset_ms: 3, overrun: rebase}, wcet_ms: 0.5,
     publishes: [/x, /z], group: g, priority: 4, overload: keep_last, deadline_ms: 7,
     workload: {name: sort, iterations: 1000000000}}
  - {id: u, node: "null", timer: {period_ms: 3600000, offset_ms: 0, overrun: skip}, wcet_ms: 0,
     observed: {n: 1, p50_ms: 0, p99_ms: 0.25, max_ms: 3600000},
     publishes: [/y]}
  - {id: s, node: n, sync: {topics: [/x, /y], policy: exact, depth: 3}, wcet_ms: 1, waits_ms: 2.5}
  - {id: w, node: n, sync: {topics: [/z, /y], window_ms: 2.5}, wcet_ms: 1, publishes: [/o]}
  - {id: v, node: n, sync: {topics: [/x, /y, /z]}, wcet_ms: 1,
     publishes: {/x: [/b, /c], /y: [/c], /z: [/d]}}
  - {id: m, node: n, subscription: {topics: [/x, /y]}, wcet_ms: 1, publishes: {/y: [/p, /q], /x: []}}
  - {id: l, node: n, executor: three, subscription: {topics: [/y, /x]}, wcet_ms: 1, publishes: [/m]}
  - {id: r, node: n, wcet_ms: 1, overload: skip_if_running,
     subscription: {topic: /o, depth: 1, reliability: best_effort, intra_process: true}}
  - {id: e, node: n, wcet_ms: 1, publishes: [/e],
     event: {min_interval_ms: 2, max_interval_ms: 7.5, offset_ms: 0, depth: 3, seed: 9}}
  - {id: camera, node: n, wcet_ms: 1, event: {period_ms: 33.3, jitter_ms: 10}}
  - {id: bursts, node: n, wcet_ms: 1, event: {period_ms: 10, jitter_ms: 50, min_interval_ms: 1}}
  - {id: pulse, node: n, wcet_ms: 1, event: {period_ms: 10}, stores: [pulse]}
  - {id: newest, node: n, wcet_ms: 1, timer: {period_ms: 10}, reads: [pulse, {topic: /m}]}
topics: [{name: /y, size_bytes: 5}, {name: /x, network_priority: 2}]
chains: [{id: c, callbacks: [t, s], priority: 9, deadline_ms: 12.345678}]
threads: [{name: middleware, policy: other, nice: -3, cpus: [2]}]
)");
  ASSERT_TRUE(read.application) << to_string(read.diagnostics.front(), "test");
  expect_round_trip(*read.application);
}

TEST(Write, WhateverMutationsLeaveValidIsTheSameAgain) {
  std::vector<std::string> texts;
  for (const auto& file : test::example_files()) {
    texts.push_back(test::read_file(file));
  }
  test::Mutator mutator(texts, 7);
  std::size_t written = 0;
  for (unsigned long i = 0; i < test::fuzz_iterations(10'000); ++i) {
    const auto read = parse_application(mutator.next());
    if (!read.application) {
      continue;
    }
    ++written;
    expect_round_trip(*read.application);
    if (HasFailure()) {
      return;
    }
  }
  EXPECT_GT(written, 100U);
}

}  // namespace
}  // namespace rclrt::model
