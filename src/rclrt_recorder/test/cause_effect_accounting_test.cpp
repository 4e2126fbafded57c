// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/cause_effect_accounting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <rclrt/model/parse.hpp>
#include <sstream>
#include <vector>

#include "rclrt/recorder/results_writer.hpp"

namespace rclrt::recorder {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// `sense` stores what `act` reads. The reaction may take 25 ms, the age 20 ms.
model::Application sampling() {
  return model::parse_application(R"(
rclrt: 1
name: sampling
nodes: [{name: n}]
callbacks:
  - {id: sense, node: n, timer: {period_ms: 10}, wcet_ms: 1, stores: [x]}
  - {id: act, node: n, timer: {period_ms: 20}, wcet_ms: 1, reads: [x]}
chains:
  - {id: path, callbacks: [sense, act], max_reaction_ms: 25, max_age_ms: 20}
)")
      .application.value();
}

InstanceRecord sampled_run(std::uint32_t chain, std::uint64_t instance, std::int64_t release_ms,
                           std::int64_t start_ms, std::int64_t end_ms,
                           Outcome outcome = Outcome::kRan) {
  InstanceRecord record;
  record.callback = chain;  // each chain has one callback
  record.start_ns = start_ms * kMs;
  record.end_ns = end_ms * kMs;
  record.outcome = outcome;
  record.tokens.add({chain, instance, release_ms * kMs});
  return record;
}

TEST(CauseEffectAccounting, CountsWhatIsAboveTheLimits) {
  const std::vector<InstanceRecord> records{
      sampled_run(0, 0, 0, 0, 1),    sampled_run(1, 0, 0, 1, 2),
      sampled_run(0, 1, 10, 10, 11), sampled_run(0, 2, 20, 30, 31, Outcome::kEmpty),
      sampled_run(1, 1, 20, 25, 35), sampled_run(1, 2, 40, 40, 41),
  };
  const model::Application application = sampling();
  const auto found = account_cause_effect_chains(application, {0, 35 * kMs}, {}, records);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].found.inputs, 2U);
  EXPECT_EQ(found[0].found.distinct, 2U);
  ASSERT_TRUE(found[0].age && found[0].reaction);
  EXPECT_EQ(found[0].age->count, 3U);
  EXPECT_EQ(found[0].age->best_ns, 2 * kMs);
  EXPECT_EQ(found[0].age->worst_ns, 31 * kMs);
  EXPECT_EQ(found[0].missed_age, 2U);  // 25 and 31 ms
  EXPECT_EQ(found[0].reaction->worst_ns, 35 * kMs);
  EXPECT_EQ(found[0].missed_reaction, 1U);

  RunResults results;
  results.application = application;
  results.cause_effect_chains = found;
  std::ostringstream file;
  write_outputs_csv(file, results);
  EXPECT_EQ(file.str(),
            "chain,release_ns,end_ns,age_ns,reaction_ns\n"
            "path,0,2000000,2000000,\n"
            "path,10000000,35000000,25000000,35000000\n"
            "path,10000000,41000000,31000000,\n");
}

TEST(CauseEffectAccounting, AReadAndAStoreCountWhenTheyHappened) {
  std::vector<InstanceRecord> records{
      sampled_run(0, 0, 0, 0, 1),
      sampled_run(0, 1, 10, 10, 25),
      sampled_run(1, 1, 20, 20, 22),
  };
  const model::Application application = sampling();
  const auto age_ms = [&] {
    const auto found = account_cause_effect_chains(application, {0, 35 * kMs}, {}, records);
    return found.at(0).found.outputs.at(0).age() / std::chrono::milliseconds(1);
  };
  EXPECT_EQ(age_ms(), 22);  // the second value is stored at the end of its run
  records[1].stored_ns = 12 * kMs;
  EXPECT_EQ(age_ms(), 12);
  records[2].read_ns = 11 * kMs;  // the first value was the newest one then
  EXPECT_EQ(age_ms(), 22);
}

TEST(CauseEffectAccounting, TheResultsStateWhereTheLongestTimesWent) {
  const std::vector<InstanceRecord> records{
      sampled_run(0, 0, 0, 0, 1),    sampled_run(1, 0, 0, 1, 2),    sampled_run(0, 1, 10, 10, 11),
      sampled_run(0, 2, 20, 20, 22), sampled_run(1, 1, 27, 28, 35),
  };
  RunResults results;
  results.application = sampling();
  results.window = {0, 35 * kMs};
  results.chains.resize(2);
  results.callback_counts.resize(2);
  results.callbacks.resize(2);
  results.kernel_priorities.resize(2);
  results.cause_effect_chains =
      account_cause_effect_chains(results.application, results.window, {}, records);
  const auto found = nlohmann::json::parse(results_json(results))["cause_effect_chains"][0];
  const auto term = [](const char* kind, const char* chain, const char* callback, int instance,
                       double time_ms) {
    return nlohmann::json{{"kind", kind},
                          {"chain", chain},
                          {"callback", callback},
                          {"instance", instance},
                          {"time_ms", time_ms}};
  };
  EXPECT_EQ(
      found["worst_reaction"],
      (nlohmann::json{
          {"end_ms", 35.0},
          {"time_ms", 35.0},
          {"terms",
           {term("source", "path_1", "sense", 1, 10), term("response", "path_1", "sense", 1, 1),
            term("sampling", "path_2", "act", 1, 16), term("response", "path_2", "act", 1, 8)}}}));
  EXPECT_EQ(found["worst_age"], (nlohmann::json{{"end_ms", 35.0},
                                                {"time_ms", 15.0},
                                                {"terms",
                                                 {term("response", "path_1", "sense", 2, 2),
                                                  term("sampling", "path_2", "act", 1, 5),
                                                  term("response", "path_2", "act", 1, 8)}}}));
}

TEST(CauseEffectAccounting, AnApplicationWithoutSuchChainsHasNoResults) {
  EXPECT_TRUE(account_cause_effect_chains(model::Application{}, {}, {}, {}).empty());
}

TEST(CauseEffectAccounting, WithoutOutputsThereAreNoTimes) {
  const auto found = account_cause_effect_chains(sampling(), {0, 45 * kMs}, {}, {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].age || found[0].reaction);
  EXPECT_EQ(found[0].missed_reaction, 0U);
}

TEST(CauseEffectAccounting, AReactionThatDoesNotComeIsMissed) {
  const std::vector<std::vector<ChainRelease>> releases{{{0, 0}, {1, 10 * kMs}}, {}};
  const auto missed = [&](std::int64_t end_ms) {
    return account_cause_effect_chains(sampling(), {0, end_ms * kMs}, releases, {})
        .front()
        .missed_reaction;
  };
  EXPECT_EQ(missed(25), 0U);
  EXPECT_EQ(missed(26), 1U);  // the limit is 25 ms
}

}  // namespace
}  // namespace rclrt::recorder
