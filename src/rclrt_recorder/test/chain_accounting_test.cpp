// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/chain_accounting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

#include "repeatable_random.hpp"
#include "sample_application.hpp"

namespace rclrt::recorder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr RunWindow kWindow{.start_ns = 1000 * kMs, .end_ns = 1200 * kMs};

std::int64_t at(std::int64_t ms) { return kWindow.start_ns + ms * kMs; }

/// The obstacle chain (period 50 ms, deadline 40 ms), released at 0, 50, 100 and 150 ms.
std::vector<ChainRelease> releases_of_obstacle() {
  return {{0, at(0)}, {1, at(50)}, {2, at(100)}, {3, at(150)}};
}

ChainToken obstacle(std::uint64_t instance) {
  const auto release_ms = 50 * static_cast<std::int64_t>(instance);
  return {.chain = kObstacle, .instance = instance, .release_ns = at(release_ms)};
}

/// The end of the obstacle chain: its last callback ran for `instance` until `end_ms`.
InstanceRecord braked(std::uint64_t instance, std::int64_t end_ms) {
  return ran(kBrake, at(end_ms - 1), at(end_ms), {obstacle(instance)});
}

ChainResult account(const std::vector<InstanceRecord>& records,
                    const std::vector<HostStall>& stalls = {},
                    const model::Application& application = sample_application()) {
  const std::vector<std::vector<ChainRelease>> releases{releases_of_obstacle(), {}};
  return account_chains(application, kWindow, releases, records, stalls).at(kObstacle);
}

std::vector<ChainStatus> statuses(const ChainResult& result) {
  std::vector<ChainStatus> found(result.instances.size());
  std::transform(result.instances.begin(), result.instances.end(), found.begin(),
                 [](const ChainInstance& instance) { return instance.status; });
  return found;
}

constexpr auto kCompleted = ChainStatus::kCompleted;
constexpr auto kLate = ChainStatus::kLate;
constexpr auto kDropped = ChainStatus::kDropped;
constexpr auto kPending = ChainStatus::kPending;

TEST(ChainAccounting, TimesAnInstanceFromItsNominalReleaseToTheEndOfItsLastCallback) {
  // Scan starts 5 ms after its release; the response still counts from the release.
  const ChainResult result =
      account({ran(kScan, at(5), at(7), {obstacle(0)}), ran(kFuse, at(7), at(10), {obstacle(0)}),
               ran(kBrake, at(10), at(11), {obstacle(0)})});
  EXPECT_EQ(result.instances[0].completion_ns, at(11));
  EXPECT_EQ(result.instances[0].response_ns(), 11 * kMs);
  EXPECT_EQ(result.response->count, 1U);
  EXPECT_EQ(result.response->worst_ns, 11 * kMs);
}

TEST(ChainAccounting, CountsFromTheReleaseOfAnotherHostsTimerWhichDrifts) {
  // The timer of instance 1 was 3 ms late by the clock of this host, because its own clock is slow.
  InstanceRecord late = ran(kBrake, at(92), at(93), {});
  late.tokens.add({.chain = kObstacle, .instance = 1, .release_ns = at(53)});
  const ChainResult result = account({braked(0, 10), late, braked(2, 110), braked(3, 160)});
  EXPECT_EQ(result.instances[1].response_ns(), 40 * kMs);
  EXPECT_EQ(result.instances[1].status, kCompleted);
  EXPECT_EQ(result.missed, 0U);
}

TEST(ChainAccounting, CallsACompletionAtTheDeadlineInTimeAndOneNanosecondLaterLate) {
  InstanceRecord late = braked(1, 90);  // release 50 + deadline 40
  late.end_ns += 1;
  const ChainResult result = account({braked(0, 40), late, braked(2, 120), braked(3, 160)});
  EXPECT_THAT(statuses(result), ElementsAre(kCompleted, kLate, kCompleted, kCompleted));
  EXPECT_EQ(result.completed, 4U);
  EXPECT_EQ(result.missed, 1U);
}

TEST(ChainAccounting, CallsAnInstanceOvertakenByANewerOneDropped) {
  const ChainResult result = account({braked(0, 10), braked(2, 110), braked(3, 160)});
  EXPECT_THAT(statuses(result), ElementsAre(kCompleted, kDropped, kCompleted, kCompleted));
  EXPECT_EQ(result.dropped, 1U);
  EXPECT_EQ(result.missed, 1U);
}

TEST(ChainAccounting, CallsInstancesAtTheEndPendingAndMissedOnceTheirDeadlineIsOver) {
  // The run ends at 200: instance 2 was due at 140, instance 3 at 190.
  const ChainResult result = account({braked(0, 10), braked(1, 60)});
  EXPECT_THAT(statuses(result), ElementsAre(kCompleted, kCompleted, kPending, kPending));
  EXPECT_EQ(result.pending, 2U);
  EXPECT_EQ(result.missed, 2U);
}

TEST(ChainAccounting, DoesNotCallAPendingInstanceMissedBeforeItsDeadline) {
  model::Application application = sample_application();
  application.chains[kObstacle].deadline = std::chrono::milliseconds(51);  // instance 3: at 201
  const ChainResult result =
      account({braked(0, 10), braked(1, 60), braked(2, 110)}, {}, application);
  EXPECT_EQ(result.instances[3].status, kPending);
  EXPECT_FALSE(result.instances[3].missed);
  application.chains[kObstacle].deadline = std::chrono::milliseconds(50);  // at 200, the very end
  EXPECT_TRUE(account({braked(2, 110)}, {}, application).instances[3].missed);
}

TEST(ChainAccounting, CountsEveryReleaseOfARunInWhichNothingRan) {
  const ChainResult result = account({});
  EXPECT_EQ(result.released, 4U);
  EXPECT_EQ(result.pending, 4U);
  EXPECT_EQ(result.missed, 4U);
  EXPECT_EQ(result.response, std::nullopt);
}

TEST(ChainAccounting, IgnoresReleasesOutsideTheWindow) {
  const std::vector<std::vector<ChainRelease>> releases{
      {{0, at(-1)}, {1, at(0)}, {2, at(199)}, {3, at(200)}}, {}};
  const ChainResult result =
      account_chains(sample_application(), kWindow, releases, {}, {}).at(kObstacle);
  ASSERT_EQ(result.released, 2U);
  EXPECT_EQ(result.instances[0].instance, 1U);
  EXPECT_EQ(result.instances[1].instance, 2U);
}

TEST(ChainAccounting, CompletesOnlyAtTheLastCallbackOfTheTokensOwnChain) {
  // Plan is the last callback of the other chain; fuse is in the middle of this one.
  const ChainResult result =
      account({ran(kFuse, at(1), at(2), {obstacle(0)}), ran(kPlan, at(2), at(3), {obstacle(0)})});
  EXPECT_THAT(statuses(result), ElementsAre(kPending, kPending, kPending, kPending));
}

TEST(ChainAccounting, DoesNotCompleteWhenTheLastCallbackWasOnlyBufferedOrFoundNothing) {
  for (const Outcome outcome : {Outcome::kBuffered, Outcome::kEmpty}) {
    InstanceRecord record = braked(0, 10);
    record.outcome = outcome;
    EXPECT_EQ(account({record}).completed, 0U);
  }
}

/// The synchroniser kept the message of `instance`, which came by its first input.
InstanceRecord kept(std::uint64_t instance, std::int64_t ms) {
  InstanceRecord record = ran(kFuse, at(ms), at(ms), {obstacle(instance)});
  record.outcome = Outcome::kBuffered;
  record.stamp_ns = at(ms);
  return record;
}

TEST(ChainAccounting, CountsWhatASynchroniserLeftOverApartAndNotAsMissed) {
  InstanceRecord fused = ran(kFuse, at(110), at(111), {obstacle(2)});
  fused.input = 1;
  fused.stamp_ns = at(109);
  const ChainResult result =
      account({kept(0, 15), kept(1, 60), kept(2, 105), fused, braked(2, 112), kept(3, 155)});
  EXPECT_THAT(statuses(result),
              ElementsAre(ChainStatus::kUnmatched, ChainStatus::kUnmatched, kCompleted, kPending));
  EXPECT_EQ(result.unmatched, 2U);
  EXPECT_EQ(result.released, result.completed + result.dropped + result.pending + result.unmatched);
  EXPECT_EQ(result.missed, 0U) << "the last one still waits, no longer than those before it";
  EXPECT_EQ(result.response->count, 1U);
}

TEST(ChainAccounting, CallsAnInstanceThatReachedNoSynchroniserDroppedAsBefore) {
  InstanceRecord fused = ran(kFuse, at(110), at(111), {obstacle(2)});
  fused.input = 1;
  const ChainResult result = account({kept(1, 60), kept(2, 105), fused, braked(2, 112)});
  EXPECT_THAT(statuses(result),
              ElementsAre(kDropped, ChainStatus::kUnmatched, kCompleted, kPending));
  EXPECT_EQ(result.missed, 2U) << "the first and the last";
}

TEST(ChainAccounting, CallsAnInstanceOfASetThatWentNoFurtherDropped) {
  const ChainResult result =
      account({ran(kFuse, at(10), at(11), {obstacle(0)}), braked(1, 60), braked(2, 110)});
  EXPECT_EQ(result.instances[0].status, kDropped);
}

TEST(ChainAccounting, CompletesSeveralChainsFromOneRecord) {
  model::Application application = sample_application();
  application.chains[kPlanning].callbacks = {kCapture, kFuse, kBrake};
  const std::vector<std::vector<ChainRelease>> releases{{{0, at(0)}}, {{7, at(2)}}};
  const std::vector<InstanceRecord> records{
      ran(kBrake, at(9), at(10), {obstacle(0), {kPlanning, 7, at(2)}})};
  const auto results = account_chains(application, kWindow, releases, records, {});
  EXPECT_EQ(results[kObstacle].instances[0].response_ns(), 10 * kMs);
  EXPECT_EQ(results[kPlanning].instances[0].response_ns(), 8 * kMs);
}

TEST(ChainAccounting, TakesTheFirstCompletionWhenATokenArrivesTwice) {
  const ChainResult result = account({braked(0, 30), braked(0, 10)});
  EXPECT_EQ(result.instances[0].completion_ns, at(10));
  EXPECT_EQ(result.completed, 1U);
}

TEST(ChainAccounting, CountsACompletionAfterTheEndOfTheWindow) {
  EXPECT_EQ(account({braked(3, 201)}).instances[3].response_ns(), 51 * kMs);
}

TEST(ChainAccounting, BlamesTheHostWhenTheResponseWithoutTheStallMeetsTheDeadline) {
  const HostStall stall{.cpu = 1, .start_ns = at(10), .end_ns = at(25)};
  // Deadline 40: 55 - 15 is in time, 56 - 15 is not.
  EXPECT_EQ(account({braked(0, 55)}, {stall}).instances[0].host_stall_ns, 15 * kMs);
  EXPECT_TRUE(account({braked(0, 55)}, {stall}).instances[0].missed_host);
  EXPECT_TRUE(account({braked(0, 56)}, {stall}).instances[0].missed);
  EXPECT_FALSE(account({braked(0, 56)}, {stall}).instances[0].missed_host);
}

TEST(ChainAccounting, DoesNotBlameTheHostForAStallBeforeTheReleaseOrAfterTheCompletion) {
  const std::vector<HostStall> stalls{{.cpu = 1, .start_ns = at(20), .end_ns = at(50)},
                                      {.cpu = 1, .start_ns = at(95), .end_ns = at(140)}};
  const ChainInstance instance = account({braked(1, 95)}, stalls).instances[1];
  EXPECT_TRUE(instance.missed);
  EXPECT_FALSE(instance.missed_host);
  EXPECT_EQ(instance.host_stall_ns, 0);
}

TEST(ChainAccounting, DoesNotBlameTheHostForAnInstanceThatWasInTime) {
  const HostStall stall{.cpu = 1, .start_ns = at(1), .end_ns = at(20)};
  const ChainResult result = account({braked(0, 30)}, {stall});
  EXPECT_EQ(result.instances[0].host_stall_ns, 19 * kMs);
  EXPECT_FALSE(result.instances[0].missed_host);
}

TEST(ChainAccounting, BlamesTheHostForAPendingInstanceButNeverForADroppedOne) {
  // Up to the end of the run instance 3 waits 50 ms, 30 of them stalled; instance 0 was overtaken.
  const std::vector<HostStall> stalls{{.cpu = 1, .start_ns = at(1), .end_ns = at(39)},
                                      {.cpu = 1, .start_ns = at(160), .end_ns = at(190)}};
  const ChainResult result = account({braked(2, 110)}, stalls);
  EXPECT_THAT(statuses(result), ElementsAre(kDropped, kDropped, kCompleted, kPending));
  EXPECT_TRUE(result.instances[3].missed_host);
  EXPECT_FALSE(result.instances[0].missed_host);
  EXPECT_EQ(result.instances[0].host_stall_ns, 38 * kMs);
  EXPECT_EQ(result.missed, 3U);
  EXPECT_EQ(result.missed_host, 1U);
}

TEST(ChainAccounting, LooksAtStallsOfTheChainsCpusOnly) {
  const HostStall elsewhere{.cpu = 0, .start_ns = at(10), .end_ns = at(25)};
  EXPECT_EQ(account({braked(0, 55)}, {elsewhere}).instances[0].host_stall_ns, 0);

  model::Application application = sample_application();
  application.threads = {{.name = "middleware", .scheduling = {.cpus = {0}}}};
  EXPECT_EQ(account({braked(0, 55)}, {elsewhere}, application).instances[0].host_stall_ns,
            15 * kMs);

  application = sample_application();
  application.executors[0].cpus.clear();  // any CPU
  EXPECT_EQ(account({braked(0, 55)}, {elsewhere}, application).instances[0].host_stall_ns,
            15 * kMs);
}

TEST(ChainAccounting, WantsTheReleasesOfEveryChain) {
  EXPECT_THAT([&] { account_chains(sample_application(), kWindow, {}, {}, {}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("releases of 0 chains were given for an application with 2 chains")));
}

/// A random run of the obstacle chain: instances complete in time, late, or not at all.
struct RandomRun {
  explicit RandomRun(std::mt19937& random) {
    std::vector<ChainRelease> chain;
    for (std::uint64_t instance = 0; instance < random() % 30; ++instance) {
      const std::int64_t release_ns = at(static_cast<std::int64_t>(random() % 220) - 10);
      chain.push_back({instance, release_ns});
      if (random() % 3 != 0) {
        const auto response_ms = static_cast<std::int64_t>(random() % 80);
        records.push_back(ran(kBrake, release_ns, release_ns + response_ms * kMs,
                              {{kObstacle, instance, release_ns}}));
      }
    }
    releases = {chain, {}};
    for (std::size_t stall = random() % 5; stall > 0; --stall) {
      const std::int64_t start_ns = at(static_cast<std::int64_t>(random() % 200));
      stalls.push_back({.cpu = static_cast<int>(random() % 2),
                        .start_ns = start_ns,
                        .end_ns = start_ns + static_cast<std::int64_t>(random() % 40) * kMs});
    }
  }

  ChainResult result() const {
    return account_chains(sample_application(), kWindow, releases, records, stalls).at(kObstacle);
  }

  std::vector<std::vector<ChainRelease>> releases;
  std::vector<InstanceRecord> records;
  std::vector<HostStall> stalls;
};

TEST(ChainAccountingProperty, ReleasedIsCompletedAndDroppedAndPendingTogether) {
  std::mt19937 random = repeatable_random(3);
  for (int round = 0; round < 1000; ++round) {
    const ChainResult result = RandomRun(random).result();
    EXPECT_EQ(result.released, result.completed + result.dropped + result.pending);
    EXPECT_EQ(result.released, result.instances.size());
    EXPECT_EQ(result.completed, result.response ? result.response->count : 0);
    const auto late = std::count_if(result.instances.begin(), result.instances.end(),
                                    [](const auto& one) { return one.status == kLate; });
    EXPECT_GE(result.missed, static_cast<std::uint64_t>(late) + result.dropped);
    EXPECT_LE(result.missed, static_cast<std::uint64_t>(late) + result.dropped + result.pending);
    EXPECT_LE(result.missed_host, result.missed);
  }
}

TEST(ChainAccountingProperty, NoPendingInstanceIsOlderThanACompletedOne) {
  std::mt19937 random = repeatable_random(4);
  for (int round = 0; round < 1000; ++round) {
    bool pending_seen = false;
    for (const ChainInstance& instance : RandomRun(random).result().instances) {
      pending_seen = pending_seen || instance.status == kPending;
      EXPECT_EQ(pending_seen, instance.status == kPending);
    }
  }
}

TEST(ChainAccountingProperty, TheOrderOfReleasesRecordsAndStallsDoesNotMatter) {
  std::mt19937 random = repeatable_random(5);
  for (int round = 0; round < 300; ++round) {
    RandomRun run(random);
    const ChainResult before = run.result();
    std::shuffle(run.releases[kObstacle].begin(), run.releases[kObstacle].end(), random);
    std::shuffle(run.records.begin(), run.records.end(), random);
    std::shuffle(run.stalls.begin(), run.stalls.end(), random);
    EXPECT_EQ(run.result(), before);
  }
}

TEST(ChainAccountingProperty, MoreStallsExcuseMoreMissesAndChangeNothingElse) {
  std::mt19937 random = repeatable_random(6);
  for (int round = 0; round < 300; ++round) {
    RandomRun run(random);
    const ChainResult with = run.result();
    run.stalls.clear();
    const ChainResult without = run.result();
    EXPECT_EQ(without.missed_host, 0U);
    EXPECT_EQ(with.missed, without.missed);
    EXPECT_EQ(with.response, without.response);
    EXPECT_EQ(statuses(with), statuses(without));
  }
}

}  // namespace
}  // namespace rclrt::recorder
