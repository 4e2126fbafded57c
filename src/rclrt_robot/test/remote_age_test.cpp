// SPDX-License-Identifier: Apache-2.0
#include "remote_age.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "host_clocks.hpp"

namespace rclrt_robot::test {
namespace {

using rclrt_rclcpp::StampedEnd;
using Report = PeerClock::Report;

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kYear2026 = 1'767'225'600 * kSecond;
constexpr std::int64_t kLimit = 50 * kMillisecond;

/// Reports of a clock that is 40 ms ahead, known to 0.2 ms, since the begin.
PeerClock clock_ahead(std::int64_t at_ns, std::int64_t low_ns = kYear2026 + 39'900'000,
                      std::int64_t high_ns = kYear2026 + 40'100'000) {
  PeerClock clock;
  for (const std::int64_t time_ns : {std::int64_t{0}, at_ns}) {
    clock.add({.epoch = 1,
               .peer_sent_ns = kYear2026 + time_ns + 40 * kMillisecond,
               .at_ns = time_ns,
               .is_known = true,
               .low_ns = low_ns,
               .high_ns = high_ns});
  }
  return clock;
}

/// An instance that ended at a time, with data of an age, stamped by that clock.
StampedEnd ended(std::int64_t end_ns, std::int64_t age_ns) {
  return {kYear2026 + end_ns - age_ns + 40 * kMillisecond, end_ns};
}

AgeVerdict verdict(std::int64_t age_ns, const PeerClock& clock = clock_ahead(11 * kSecond)) {
  return judge_age(ended(10 * kSecond, age_ns), clock, kLimit, 11 * kSecond).verdict;
}

TEST(RemoteAge, OnlyAnIntervalOnOneSideOfTheLimitIsAnAnswer) {
  EXPECT_EQ(verdict(49'800'000), AgeVerdict::kMet);
  EXPECT_EQ(verdict(49'950'000), AgeVerdict::kUnknown);  // 49.85 to 50.05 ms
  EXPECT_EQ(verdict(50'050'000), AgeVerdict::kUnknown);
  EXPECT_EQ(verdict(50'200'000), AgeVerdict::kMissed);
  const JudgedAge judged =
      judge_age(ended(10 * kSecond, 10 * kMillisecond), clock_ahead(11 * kSecond), kLimit, 0);
  EXPECT_EQ(judged.low_ns, 9'900'000);
  EXPECT_EQ(judged.high_ns, 10'100'000);
}

TEST(RemoteAge, AnAgeIsNeverNegativeAndTheFutureIsNamed) {
  const JudgedAge judged =
      judge_age(ended(10 * kSecond, 20'000), clock_ahead(11 * kSecond), kLimit, 11 * kSecond);
  EXPECT_EQ(judged.verdict, AgeVerdict::kMet);
  EXPECT_EQ(judged.low_ns, 0);
  EXPECT_EQ(verdict(-200'000), AgeVerdict::kFuture);
  EXPECT_EQ(verdict(-3'600 * kSecond), AgeVerdict::kFuture);
}

TEST(RemoteAge, AVerdictWaitsForAPingThatWasSentAfterTheEnd) {
  const StampedEnd end = ended(10 * kSecond, 10 * kMillisecond);
  const auto at = [&](std::int64_t report_ns, std::int64_t now_ns) {
    return judge_age(end, clock_ahead(report_ns), kLimit, now_ns).verdict;
  };
  EXPECT_EQ(at(9 * kSecond, 10 * kSecond), AgeVerdict::kPending);
  EXPECT_EQ(at(10 * kSecond, 10 * kSecond), AgeVerdict::kPending) << "it may have been sent before";
  EXPECT_EQ(at(10 * kSecond + kMillisecond, 11 * kSecond), AgeVerdict::kMet);
  EXPECT_EQ(at(9 * kSecond, 14 * kSecond), AgeVerdict::kUnknown) << "the peer is silent";
  EXPECT_EQ(judge_age(end, PeerClock(), kLimit, 11 * kSecond).verdict, AgeVerdict::kPending);
  EXPECT_EQ(judge_age(end, PeerClock(), kLimit, 14 * kSecond).verdict, AgeVerdict::kUnknown);
}

TEST(RemoteAge, AStampOfAClockThatWasSetBackIsNotJudgedByPingsBeforeThat) {
  // The clock was set back by 40 ms 5 ms after a ping. The stamp is as if from before that ping.
  const std::int64_t ping_ns = 10 * kSecond;
  PeerClock clock = clock_ahead(9'900'000'000);
  Report report = *clock.latest();
  report.at_ns = ping_ns;
  report.peer_sent_ns = kYear2026 + ping_ns + 40 * kMillisecond;
  clock.add(report);
  const std::int64_t stamped_ns = ping_ns + 5 * kMillisecond;
  const StampedEnd end{kYear2026 + stamped_ns, stamped_ns + kMillisecond};
  EXPECT_EQ(judge_age(end, clock, kLimit, stamped_ns + kMillisecond).verdict, AgeVerdict::kPending);
  report.epoch = 2;
  report.at_ns = ping_ns + 100 * kMillisecond;
  report.peer_sent_ns = kYear2026 + report.at_ns;
  clock.add(report);
  EXPECT_EQ(judge_age(end, clock, kLimit, report.at_ns).verdict, AgeVerdict::kUnknown);
}

TEST(RemoteAge, NothingIsKnownForASecondAfterAClockWasSet) {
  PeerClock clock = clock_ahead(9 * kSecond);
  Report report = *clock.latest();
  report.epoch = 2;
  report.at_ns = 9'500'000'000;
  clock.add(report);
  EXPECT_EQ(clock.changes(), 1U);
  report.at_ns = 12 * kSecond;
  report.peer_sent_ns = kYear2026 + 12 * kSecond;
  clock.add(report);
  const auto at = [&](std::int64_t end_ns) {
    return judge_age(ended(end_ns, 10 * kMillisecond), clock, kLimit, 12 * kSecond).verdict;
  };
  EXPECT_EQ(at(9 * kSecond), AgeVerdict::kUnknown);
  EXPECT_EQ(at(10'400'000'000), AgeVerdict::kUnknown);
  EXPECT_EQ(at(10'600'000'000), AgeVerdict::kMet);
}

TEST(RemoteAge, WrongStampsAndReportsAreUnknown) {
  for (const std::int64_t wrong : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, INT64_MAX}) {
    EXPECT_EQ(judge_age({wrong, kSecond}, clock_ahead(kSecond), kLimit, 0).verdict,
              AgeVerdict::kUnknown);
    PeerClock clock;
    clock.add({.at_ns = kSecond, .low_ns = 1, .high_ns = 0});
    clock.add({.at_ns = kSecond, .drift_ppb = wrong == 0 ? -1 : wrong});
    clock.add({.at_ns = wrong == 0 ? INT64_MAX : wrong});
    EXPECT_FALSE(clock.latest());
  }
  PeerClock clock = clock_ahead(11 * kSecond, INT64_MIN, INT64_MAX);
  EXPECT_EQ(judge_age(ended(10 * kSecond, 10 * kMillisecond), clock, kLimit, 14 * kSecond).verdict,
            AgeVerdict::kUnknown);
}

TEST(RemoteAge, ALostReportOfASlewedClockDoesNotMakeAnAgeWrong) {
  // The clock was slewed by 20 ms, from 40 to 60 ms, between the first two of three pings, and the
  // report of the second is lost. The stamp has half of it.
  PeerClock clock = clock_ahead(9 * kSecond);
  clock.add({.epoch = 1,
             .peer_sent_ns = kYear2026 + 10 * kSecond + 60 * kMillisecond,
             .at_ns = 10 * kSecond,
             .is_known = true,
             .low_ns = kYear2026 + 59'900'000,
             .high_ns = kYear2026 + 60'100'000});
  const std::int64_t stamped_ns = 9'100'000'000;
  const std::int64_t age_ns = 45 * kMillisecond;
  const JudgedAge judged =
      judge_age({kYear2026 + stamped_ns + 50 * kMillisecond, stamped_ns + age_ns}, clock, kLimit,
                10 * kSecond);
  EXPECT_LE(judged.low_ns, age_ns);
  EXPECT_GE(judged.high_ns, age_ns);
  EXPECT_EQ(judged.verdict, AgeVerdict::kUnknown);
}

TEST(RemoteAge, AClockThatGoesBackWasSetWhateverTheEpoch) {
  PeerClock clock = clock_ahead(9 * kSecond);
  Report report = *clock.latest();
  report.at_ns += kSecond / 10;
  report.peer_sent_ns -= kSecond;
  clock.add(report);
  EXPECT_EQ(clock.changes(), 1U);
  EXPECT_EQ(clock.since_ns(), report.at_ns);
}

/// A peer with a clock that drifts and is set, and instances with its data.
class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : random_(seed) {}

  void run(std::size_t instances) {
    while (judged < instances) {
      now_ns_ += static_cast<std::int64_t>(random_() % (2 * kMillisecond));
      end_instances();
      if (now_ns_ >= next_report_ns_) {
        report();
        next_report_ns_ = now_ns_ + static_cast<std::int64_t>(random_() % (200 * kMillisecond));
      }
      if (random_() % 4'000 == 0) {
        const auto by = static_cast<std::int64_t>(1'000U << (random_() % 15));
        offset_ns_ += random_() % 2 == 0 ? by : -by;
        ++epoch_;
        ++sets;
      }
      const auto age_ns = static_cast<std::int64_t>(random_() % (100 * kMillisecond));
      running_.push_back({now_ns_, {peer_time(), now_ns_ + age_ns}});
    }
  }

  std::size_t judged = 0;
  std::size_t met = 0;
  std::size_t missed = 0;
  std::size_t sets = 0;

 private:
  struct Instance {
    std::int64_t stamped_ns;  // true time
    StampedEnd end;
  };

  std::int64_t offset() const { return offset_ns_ + now_ns_ / 1'000'000 * kDriftPpm; }
  std::int64_t peer_time() const { return kYear2026 + now_ns_ + offset(); }

  void end_instances() {
    std::erase_if(running_, [&](const Instance& each) {
      const bool has_ended = each.end.end_ns <= now_ns_;
      if (has_ended) {
        waiting_.push_back(each);
      }
      return has_ended;
    });
  }

  /// Reports an interval around the offset, and judges.
  void report() {
    const auto slack = [&] { return static_cast<std::int64_t>(random_() % (kMillisecond / 2)); };
    clock_.add({.epoch = epoch_,
                .peer_sent_ns = peer_time(),
                .at_ns = now_ns_,
                .is_known = random_() % 10 != 0,
                .low_ns = kYear2026 + offset() - slack(),
                .high_ns = kYear2026 + offset() + slack(),
                .drift_ppb = 100'000});
    std::erase_if(waiting_, [&](const Instance& each) {
      const JudgedAge age = judge_age(each.end, clock_, kLimit, now_ns_);
      check(age, each.end.end_ns - each.stamped_ns);
      return age.verdict != AgeVerdict::kPending;
    });
  }

  void check(const JudgedAge& age, std::int64_t truth_ns) {
    ASSERT_NE(age.verdict, AgeVerdict::kFuture);
    if (age.is_known) {
      ++judged;
      ASSERT_LE(age.low_ns, truth_ns);
      ASSERT_GE(age.high_ns, truth_ns);
      ASSERT_GE(age.low_ns, 0);
    }
    if (age.verdict == AgeVerdict::kMet) {
      ++met;
      ASSERT_LE(truth_ns, kLimit);
    } else if (age.verdict == AgeVerdict::kMissed) {
      ++missed;
      ASSERT_GT(truth_ns, kLimit);
    }
  }

  static constexpr std::int64_t kDriftPpm = 90;
  std::mt19937_64 random_;
  std::int64_t now_ns_ = kSecond;
  std::int64_t next_report_ns_ = 0;
  std::int64_t offset_ns_ = 40 * kMillisecond;
  std::uint64_t epoch_ = 1;
  PeerClock clock_;
  std::vector<Instance> running_;
  std::vector<Instance> waiting_;
};

TEST(RemoteAge, EveryIntervalContainsTheAgeAndNoVerdictIsAGuess) {
  Simulation simulation(1);
  simulation.run(10'000);
  EXPECT_GT(simulation.sets, 3U);
  EXPECT_GT(simulation.met, 1'000U);
  EXPECT_GT(simulation.missed, 1'000U);
}

TEST(RemoteAges, CountsVerdictsAndBoundsPercentiles) {
  RemoteAges ages;
  EXPECT_FALSE(ages.percentile(50));
  for (int i = 1; i <= 100; ++i) {
    ages.add(ended(10 * kSecond, i * kMillisecond));
  }
  ages.judge(clock_ahead(9 * kSecond), kLimit, 10 * kSecond);
  EXPECT_EQ(ages.pending(), 100U);
  ages.judge(clock_ahead(10 * kSecond + kMillisecond), kLimit, 11 * kSecond);
  EXPECT_EQ(ages.pending(), 0U);
  EXPECT_EQ(ages.counts().met, 49U);
  EXPECT_EQ(ages.counts().unknown, 1U);
  EXPECT_EQ(ages.counts().missed, 50U);
  EXPECT_EQ(ages.percentile(50)->low_ns, 49'900'000);
  EXPECT_EQ(ages.percentile(50)->high_ns, 50'100'000);
  EXPECT_EQ(ages.percentile(100)->high_ns, 100'100'000);
  ages.clear_ages();
  EXPECT_FALSE(ages.percentile(50));
  for (std::size_t i = 0; i < RemoteAges::kMostPending + 10; ++i) {
    ages.add(ended(20 * kSecond, 0));
  }
  EXPECT_EQ(ages.pending(), RemoteAges::kMostPending);
  EXPECT_EQ(ages.counts().unknown, 11U);
}

rclrt_msgs::msg::ClockInterval report_of(const std::string& host, std::uint64_t boot,
                                         std::uint64_t session, std::int64_t at_ns) {
  rclrt_msgs::msg::ClockInterval report;
  report.host = host;
  report.boot = boot;
  report.session = session;
  report.peer = "right";
  report.at_ns = at_ns;
  report.is_known = true;
  return report;
}

TEST(HostClocks, OnlyReportsOfThisHostCount) {
  HostClocks clocks("left", 7);
  EXPECT_NE(clocks.fault().find("no `rclrt clock` of this host is heard"), std::string::npos);
  clocks.take(report_of("left", 8, 1, 10), 10 * kSecond, 0);
  EXPECT_FALSE(clocks.of("right").latest()) << "of another machine";
  clocks.take(report_of("host_of_the_container", 7, 1, 10), 10 * kSecond, 0);
  EXPECT_TRUE(clocks.of("right").latest()) << "the only one of this machine";
  clocks.take(report_of("third", 7, 2, 20), 10 * kSecond, 0);
  EXPECT_FALSE(clocks.of("right").latest());
  EXPECT_NE(clocks.fault().find("none is of left"), std::string::npos);
  clocks.take(report_of("left", 7, 3, 30), 10 * kSecond, 0);
  EXPECT_EQ(clocks.of("right").latest()->at_ns, 30);
  EXPECT_EQ(clocks.fault(), "");
  EXPECT_FALSE(clocks.of("other").latest());
}

TEST(HostClocks, HostsThatVanishMakeRoom) {
  HostClocks clocks("left", 7);
  for (std::size_t i = 0; i <= HostClocks::kMostPeers; ++i) {
    auto report = report_of("container", 7, 1, kSecond);
    report.peer = "peer" + std::to_string(i);
    clocks.take(report, kSecond, 0);
  }
  EXPECT_TRUE(clocks.of("peer63").latest());
  EXPECT_FALSE(clocks.of("peer64").latest()) << "there is no place";
  clocks.take(report_of("another_container", 7, 2, 100 * kSecond), 100 * kSecond, 0);
  EXPECT_TRUE(clocks.of("right").latest()) << "the only one that is left";
  EXPECT_FALSE(clocks.of("peer63").latest());
  EXPECT_EQ(clocks.fault(), "");
  clocks.take(report_of("third_container", 7, 3, 300 * kSecond), 100 * kSecond, 0);
  EXPECT_EQ(clocks.fault(), "") << "a report from the future does not count";
  clocks.take(report_of("third_container", 7, 3, 101 * kSecond), 101 * kSecond, 0);
  EXPECT_NE(clocks.fault(), "");
  clocks.take(report_of("third_container", 7, 3, 165 * kSecond), 165 * kSecond, 0);
  EXPECT_EQ(clocks.fault(), "") << "another host is forgotten";
}

TEST(HostClocks, AnotherProcessOfTheHostDoesNotDisturb) {
  HostClocks clocks("left", 7);
  clocks.take(report_of("left", 7, 1, kSecond), 10 * kSecond, 0);
  clocks.take(report_of("left", 7, 2, 2 * kSecond), 10 * kSecond, 0);
  EXPECT_EQ(clocks.of("right").latest()->session, 1U);
  EXPECT_EQ(clocks.of("right").changes(), 0U);
  clocks.take(report_of("left", 7, 2, 9 * kSecond), 10 * kSecond, 0);
  EXPECT_EQ(clocks.of("right").latest()->session, 2U);
  EXPECT_EQ(clocks.of("right").changes(), 1U);
}

TEST(HostClocks, AnotherPublisherIsAnotherProcessWhateverItsSession) {
  rmw_gid_t gid{};
  const std::uint64_t own = publisher_number(gid);
  gid.data[3] = 1;
  const std::uint64_t other = publisher_number(gid);
  ASSERT_NE(own, other);
  HostClocks clocks("left", 7);
  clocks.take(report_of("left", 7, 1, kSecond), 10 * kSecond, own);
  clocks.take(report_of("left", 7, 1, 2 * kSecond), 10 * kSecond, other);
  EXPECT_EQ(clocks.of("right").latest()->at_ns, kSecond) << "not mixed";
  clocks.take(report_of("left", 7, 1, 3 * kSecond), 10 * kSecond, own);
  EXPECT_EQ(clocks.of("right").latest()->at_ns, 3 * kSecond);
  EXPECT_EQ(clocks.of("right").changes(), 0U);
}

}  // namespace
}  // namespace rclrt_robot::test
