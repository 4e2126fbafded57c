// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/host_times.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "rclrt/recorder/results_writer.hpp"
#include "rclrt/recorder/run_accounting.hpp"
#include "sample_results.hpp"

namespace rclrt::recorder {
namespace {

using nlohmann::json;

/// Two hosts: `arm` is the reference. The clock of `base` is known best after 100 ms.
HostTable two_hosts(std::vector<std::size_t> of_callback) {
  HostTable table;
  table.hosts.push_back({.name = "arm", .boot = "a"});
  table.hosts.push_back({.name = "base",
                         .boot = "b",
                         .compared_with = "arm",
                         .knots = {{kSampleStart, 3 * kMs}, {kSampleStart + 100 * kMs, kMs}},
                         .drift_ppb = 100'000,
                         .stretch_ppb = 200'021,
                         .received = 7,
                         .sent = 8,
                         .first_offset_ns = {{39 * kMs, 41 * kMs}}});
  table.of_callback = std::move(of_callback);
  return table;
}

TEST(HostTable, TheErrorGrowsWithTheDriftFromTheNearestKnots) {
  const HostTable table = two_hosts({0, 1});
  EXPECT_EQ(table.error_ns(0, kSampleStart), 0) << "the reference";
  EXPECT_EQ(table.error_ns(1, kSampleStart), 3 * kMs);
  EXPECT_EQ(table.error_ns(1, kSampleStart + kMs), kMs + 9'900) << "from the knot 99 ms later";
  EXPECT_EQ(table.error_ns(1, kSampleStart + 100 * kMs), kMs);
  EXPECT_EQ(table.error_ns(1, kSampleStart + 1100 * kMs), kMs + 100'000);
  EXPECT_EQ(HostTable{}.error_ns(1, kSampleStart), 0) << "one host";
}

TEST(HostTable, ATimeOnOneHostHasOnlyItsDrift) {
  const HostTable table = two_hosts({0, 1, 1, 0});
  const std::int64_t end_ns = kSampleStart + 100 * kMs;
  EXPECT_EQ(table.error_between_ns(0, kSampleStart, 3, end_ns), 0);
  EXPECT_EQ(table.error_between_ns(0, kSampleStart, 1, end_ns), kMs);
  EXPECT_EQ(table.error_between_ns(1, end_ns - 10 * kMs, 2, end_ns), 2001 + 4)
      << "the part by which it may be stretched, and whole nanoseconds";
}

TEST(HostTable, AChainIsJudgedWhereAllItsHostsWereTraced) {
  HostTable table = two_hosts({0, 1, 1, 0});
  const RunWindow window{kSampleStart, kSampleStart + 100 * kMs};
  table.hosts[1].traced = {kSampleStart + 20 * kMs, kSampleStart + 500 * kMs};
  table.hosts[0].traced = {kSampleStart - kMs, kSampleStart + 90 * kMs};
  const auto of = [&](const std::vector<std::size_t>& callbacks) {
    const RunWindow found = table.window_of(callbacks, window);
    return std::pair((found.start_ns - kSampleStart) / kMs, (found.end_ns - kSampleStart) / kMs);
  };
  EXPECT_EQ(of({0, 3}), std::pair(0L, 90L));
  EXPECT_EQ(of({1, 2}), std::pair(20L, 100L));
  EXPECT_EQ(of({0, 1, 3}), std::pair(20L, 90L));
  table.hosts[1].traced.end_ns = kSampleStart;
  EXPECT_EQ(of({0, 1}), std::pair(20L, 20L)) << "never together";
}

/// The sample run, with scan on `arm` and the rest on `base`.
RunResults over_hosts() {
  RunResults results = sample_results();
  results.hosts = two_hosts({0, 1, 1, 1, 1});
  return results;
}

TEST(JudgeOverHosts, ADeadlineWithinTheErrorIsUnknown) {
  RunResults results = over_hosts();
  ASSERT_EQ(results.chains[kObstacle].instances.size(), 2U);
  ASSERT_EQ(results.chains[kObstacle].missed, 1U);
  // The second instance took 44.25 ms, the deadline is 40 ms: late for certain up to ±4.25 ms.
  judge_over_hosts(results);
  EXPECT_EQ(results.chains[kObstacle].missed, 1U);
  EXPECT_EQ(results.chains[kObstacle].unknown, 0U);
  results.hosts.hosts[1].knots = {{kSampleStart + 90 * kMs, 5 * kMs}};
  judge_over_hosts(results);
  const ChainResult& chain = results.chains[kObstacle];
  EXPECT_EQ(chain.missed, 0U);
  EXPECT_EQ(chain.unknown, 1U);
  EXPECT_EQ(chain.instances[1].status, ChainStatus::kUnknown);
  EXPECT_FALSE(chain.instances[1].missed);
  for (const ChainMiss& miss : results.misses) {
    EXPECT_FALSE(miss.chain == kObstacle && miss.instance.instance == 1);
  }
  EXPECT_EQ(results.chains[kObstacle].instances[0].status, ChainStatus::kCompleted);
}

TEST(JudgeOverHosts, AnInstanceThatMayBeDueAfterTheEndIsNotMissed) {
  for (const std::int64_t before_ns : {kMs / 2, 3 * kMs}) {
    RunResults results = over_hosts();
    // Its instance of 50 ms is pending; it was due this long before the end, within 1 ms.
    results.application.chains[kPlanning].deadline = std::chrono::nanoseconds(50 * kMs - before_ns);
    results.chains[kPlanning].instances.at(1).missed = true;
    results.chains[kPlanning].missed = 1;
    results.hosts.hosts[1].knots = {{kSampleStart + 50 * kMs, kMs}};
    judge_over_hosts(results);
    EXPECT_EQ(results.chains[kPlanning].missed, before_ns < kMs ? 0U : 1U);
    EXPECT_EQ(results.chains[kPlanning].instances[1].status, ChainStatus::kPending);
  }
}

TEST(JudgeOverHosts, OneHostIsLeftAsItIs) {
  RunResults results = sample_results();
  const RunResults before = results;
  judge_over_hosts(results);
  EXPECT_EQ(results.chains, before.chains);
}

TEST(ResultsOverHosts, AReleaseByAMessageHasTheErrorOfItsPublisher) {
  RunResults results = sample_results();
  results.hosts = two_hosts({1, 0, 0, 0, 0});
  std::vector<LoggedInstance> instances;
  for (const InstanceRecord& record : std::exchange(results.records, {})) {
    instances.push_back({.record = record});
  }
  // fuse, on the reference, took a message of scan, which is on the other host.
  instances[3].published_ns = instances[3].record.release_ns = kSampleStart + 4 * kMs;
  instances[3].record.ready_ns = instances[3].published_ns;
  instances[3].publisher = kScan;
  const std::int64_t error_ns = results.hosts.error_ns(kScan, kSampleStart + 4 * kMs);
  account(results, instances, 2);
  ASSERT_GT(error_ns, kMs);
  EXPECT_EQ(results.hosts.release_errors_ns.at(3), error_ns);
  EXPECT_EQ(results.hosts.release_errors_ns.at(4), 0);
  EXPECT_EQ(results.callbacks[kFuse].error_ns, error_ns);
  EXPECT_EQ(results.callbacks[kBrake].error_ns, 0);
  std::ostringstream csv;
  write_instances_csv(csv, results);
  EXPECT_NE(csv.str().find("," + std::to_string(error_ns) + "\n4,"), std::string::npos)
      << csv.str();
  const json document = json::parse(results_json(results));
  EXPECT_EQ(document["callbacks"][kFuse]["error_ms"], static_cast<double>(error_ns) / 1e6);
}

TEST(ResultsOverHosts, HaveTheErrorOfEachTime) {
  const RunResults results = over_hosts();
  std::ostringstream chains;
  write_chains_csv(chains, results);
  EXPECT_NE(chains.str().find("host_stall_ns,error_ns\n"), std::string::npos);
  std::ostringstream instances;
  write_instances_csv(instances, results);
  EXPECT_NE(instances.str().find("tokens,cpus,error_ns\n"), std::string::npos);
  const json document = json::parse(results_json(results));
  ASSERT_EQ(document["hosts"].size(), 2U);
  EXPECT_EQ(document["hosts"][0]["compared_with"], nullptr);
  EXPECT_EQ(document["hosts"][0]["callbacks"], (json{"scan"}));
  EXPECT_EQ(document["hosts"][1]["name"], "base");
  EXPECT_EQ(document["hosts"][1]["least_error_ms"], 1.0);
  EXPECT_EQ(document["hosts"][1]["most_error_ms"], 3.0);
  EXPECT_EQ(document["hosts"][1]["first_offset_ms"], (json{39.0, 41.0}));
  EXPECT_EQ(document["hosts"][1]["last_offset_ms"], nullptr);
  EXPECT_GT(document["chains"][kObstacle]["error_ms"], 0.9);
  EXPECT_FALSE(json::parse(results_json(sample_results())).contains("hosts"));
}

}  // namespace
}  // namespace rclrt::recorder
