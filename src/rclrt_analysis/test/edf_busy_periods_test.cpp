// SPDX-License-Identifier: Apache-2.0
/// The busy periods of all deadlines of an EDF executor give the responses of Spuri's analysis.
#include "../src/bounds/edf_busy_periods.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace rclrt::analysis::detail {
namespace {

Ticks until(const Stream& stream, Ticks t) {
  const auto limit = [t](Ticks period, Ticks jitter) {
    return t + jitter < 0 ? 0 : (t + jitter) / period + 1;
  };
  const Ticks most = limit(stream.period, stream.jitter);
  return stream.distance > 0 ? std::min(most, limit(stream.distance, stream.within)) : most;
}

/// Returns how many instances that arrive in the busy period are due by `deadline`.
Ticks due_by(const EdfWork::Due& each, Ticks deadline) {
  return deadline < each.deadline - each.late ? 0 : until(each.stream, deadline - each.deadline);
}

/// Returns the end of an instance of `own` that arrives at `a` (Spuri, INRIA RR-2772, 1996).
Ticks end_of(const EdfWork& work, const EdfWork::Due& own, Ticks a) {
  Ticks w = 1;
  while (true) {
    Ticks total = 1;
    Ticks blocking = 0;
    for (const EdfWork::Blocking& each : work.blocking) {
      if (each.from <= a + own.deadline && a + own.deadline < each.until) {
        blocking = std::max(blocking, each.work);
      }
    }
    total += blocking;
    for (const EdfWork::Due& each : work.due) {
      const Ticks due = due_by(each, a + own.deadline);
      const Ticks arrived = until(each.stream, w - 1);
      total += each.stream.work * (&each == &own ? due : std::min(due, arrived));
    }
    for (const Stream& each : work.always) {
      total += each.work * until(each, w - 1);
    }
    if (total <= w) {
      return total - 1;
    }
    w = total;
  }
}

/// Tries every arrival in the longest busy period.
Ticks longest_response(const EdfWork& work, const EdfWork::Due& own) {
  std::vector<Stream> all = work.always;
  for (const EdfWork::Due& each : work.due) {
    all.push_back(each.stream);
  }
  Budget budget({});
  const Ticks last = longest_busy_period(all, 20, budget).value_or(0);
  Ticks worst = 0;
  for (Ticks a = 0; a <= last; ++a) {
    worst = std::max(worst, end_of(work, own, a) - a);
  }
  return worst;
}

EdfWork random_work(std::mt19937_64& random) {
  const auto between = [&](Ticks low, Ticks high) {
    return std::uniform_int_distribution<Ticks>(low, high)(random);
  };
  EdfWork work;
  const Ticks due = between(1, 4);
  for (Ticks i = 0; i < due; ++i) {
    Stream stream{between(0, 4), between(8, 24), between(0, 1) * between(0, 30)};
    if (stream.jitter > 0 && between(0, 1) == 1) {
      stream.distance = between(1, stream.period);
      stream.within = between(0, stream.jitter);
    }
    const Ticks late = between(0, 1) * std::min(stream.jitter, between(0, 4));
    work.due.push_back(
        {stream, between(0, 1) * between(0, 40), between(0, 1) == 1 ? late : kHorizon});
  }
  const Ticks always = between(0, 2);
  for (Ticks i = 0; i < always; ++i) {
    work.always.push_back({between(0, 2), between(10, 20), between(0, 1) * between(0, 20)});
    if (work.always.back().jitter > 0 && between(0, 1) == 1) {
      work.always.back().distance = between(2, 9);
    }
  }
  work.blocking.push_back({between(0, 2), 0, kHorizon});
  const Ticks blocking = between(0, 3);
  for (Ticks i = 0; i < blocking; ++i) {
    const Ticks from = between(0, 20);
    work.blocking.push_back({between(1, 9), from, from + between(0, 20)});
  }
  return work;
}

TEST(EdfBusyPeriods, GiveTheResponsesOfSpurisAnalysis) {
  std::mt19937_64 random(5);
  std::size_t bounded = 0;
  std::set<Ticks> responses;
  for (int trial = 0; trial < 1000; ++trial) {
    const EdfWork work = random_work(random);
    Budget budget({});
    const EdfBusyPeriods periods(work, budget);
    if (periods.response(0) >= kHorizon) {
      double load = 0;
      for (const EdfWork::Due& each : work.due) {
        load += static_cast<double>(each.stream.work) / static_cast<double>(each.stream.period);
      }
      for (const Stream& each : work.always) {
        load += static_cast<double>(each.work) / static_cast<double>(each.period);
      }
      ASSERT_GE(load, 1 - 1e-9) << "trial " << trial;
      continue;
    }
    ++bounded;
    for (const EdfWork::Due& own : work.due) {
      if (own.stream.work > 0) {
        const Ticks expected = longest_response(work, own);
        ASSERT_EQ(periods.response(own.deadline), expected) << "trial " << trial;
        responses.insert(expected);
      }
    }
  }
  EXPECT_GT(bounded, 500U);
  EXPECT_GT(responses.size(), 40U);
}

// C = 2 and 4, T = D = 5 and 8. The second task is due at 8, after the first task's 2 and its own
// 4; the instance that comes at 5 is due later. For the first task the worst arrival is 3, due at
// 8, too: the other one has run since 0, and ends at 4.
TEST(EdfBusyPeriods, OfTwoTasksByHand) {
  const EdfWork work{.due = {{{2, 5, 0}, 5}, {{4, 8, 0}, 8}}, .always = {}, .blocking = {}};
  Budget budget({});
  const EdfBusyPeriods periods(work, budget);
  EXPECT_EQ(periods.response(8), 6);
  EXPECT_EQ(periods.response(5), 3);
}

// The deadlines are far apart, but no busy period is longer than 400 ms. In ns.
TEST(EdfBusyPeriods, EndWithTheLongestOneHoweverLateAnInstanceIsDue) {
  constexpr Ticks kMs = 1'000'000;
  const EdfWork work{.due = {{{50'000, 100'000, 0}, 90'000},
                             {{197 * kMs, 400 * kMs, 0}, 400 * kMs},
                             {{kMs, 2'000'000 * kMs, 0}, 2'000'000 * kMs}},
                     .always = {},
                     .blocking = {}};
  Budget budget({});
  const EdfBusyPeriods periods(work, budget);
  EXPECT_LE(periods.response(90'000), 90'000);
  EXPECT_GE(periods.response(2'000'000 * kMs), 198 * kMs);
  EXPECT_LE(periods.response(2'000'000 * kMs), 400 * kMs);
}

TEST(EdfBusyPeriods, OfTooManyInstancesHaveABoundAllTheSame) {
  constexpr Ticks kMs = 1'000'000;
  const EdfWork work{
      .due = {{{50'000, 100'000, 0}, 100'000}, {{12'000 * kMs, 170'000 * kMs, 0}, 170'000 * kMs}},
      .always = {},
      .blocking = {}};
  Budget budget({});
  const EdfBusyPeriods periods(work, budget);
  EXPECT_LE(periods.response(100'000), 100'000);
  EXPECT_LE(periods.response(170'000 * kMs), 170'000 * kMs);
}

TEST(EdfBusyPeriods, HaveNoBoundAtFullLoad) {
  const EdfWork work{.due = {{{5, 5, 0}, 5}}, .always = {}, .blocking = {}};
  Budget budget({});
  EXPECT_EQ(EdfBusyPeriods(work, budget).response(5), kHorizon);
}

TEST(EdfBusyPeriods, AnEmptyBudgetGivesNoBound) {
  const EdfWork work{.due = {{{1, 5, 0}, 5}}, .always = {}, .blocking = {}};
  Budget budget({.steps = 1});
  EXPECT_EQ(EdfBusyPeriods(work, budget).response(5), kHorizon);
}

}  // namespace
}  // namespace rclrt::analysis::detail
