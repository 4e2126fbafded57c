// SPDX-License-Identifier: Apache-2.0
/// The search for margins gives what a plain bisection over all deadlines gives.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include "random_application.hpp"
#include "rclrt/analysis/assign.hpp"
#include "rclrt/analysis/sensitivity.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

constexpr Ticks kHour_ns = Ticks{3600} * 1'000'000'000;

struct Case {
  model::ExecutorChoice executor;
  bool spread{};     // over several executors
  bool overheads{};  // and syncs are kept
};

/// Returns the last value on the way from `good` to `harmful` that holds, by bisection.
Ticks bisected(Ticks good, Ticks harmful, const std::function<bool(Ticks)>& holds) {
  if (holds(harmful)) {
    return harmful;
  }
  Ticks bad = harmful;
  while (std::abs(bad - good) > 1) {
    const Ticks middle = good + (bad - good) / 2;
    (holds(middle) ? good : bad) = middle;
  }
  return good;
}

class AgainstBisection {
 public:
  AgainstBisection(model::Application application, const model::ExecutorChoice& executor,
                   const Overheads& overheads)
      : stated_(std::move(application)),
        tried_(stated_),
        executor_(executor),
        overheads_(overheads) {}

  /// Compares the margins of the execution times, of all together, and of the periods of timers.
  void compare(const std::string& what) {
    const Sensitivity found = sensitivity(stated_, executor_, Machine{.overheads = overheads_});
    const bool stated_holds = holds();
    const auto check = [&](const Margin& margin, Ticks harmless, Ticks stated, Ticks harmful,
                           const std::function<void(Ticks)>& set, const std::string& name) {
      const auto holds_with = [&](Ticks value) {
        set(value);
        const bool result = holds();
        tried_ = stated_;
        return result;
      };
      std::optional<Ticks> expected;
      if (stated_holds || holds_with(harmless)) {
        expected = bisected(stated_holds ? stated : harmless, harmful, holds_with);
      }
      const bool may_differ = harmless > harmful && margin.limit && margin.limit != expected;
      if (may_differ) {
        // Bounds need not be monotone in a period. Then there are several limits.
        ASSERT_TRUE(holds_with(*margin.limit)) << what << ", " << name;
        ASSERT_FALSE(holds_with(*margin.limit - 1)) << what << ", " << name;
        ++different_;
        return;
      }
      ++equal_;
      ASSERT_EQ(margin.limit, expected) << what << ", " << name << "\n" << describe(stated_);
      ASSERT_EQ(margin.unlimited, expected == harmful) << what << ", " << name;
    };
    check(found.factor, 0, 1'000'000, kMaxFactor, [&](Ticks factor) { scale(factor); }, "factor");
    for (std::size_t i = 0; i < stated_.callbacks.size(); ++i) {
      const model::Callback& callback = stated_.callbacks[i];
      check(
          found.wcets[i], 0, callback.wcet.count(), kHour_ns,
          [&](Ticks value) { tried_.callbacks[i].wcet = model::Nanoseconds(value); }, callback.id);
      if (const auto* const timer = std::get_if<model::Timer>(&callback.trigger)) {
        check(
            found.periods[i], kHour_ns, timer->period.count(), 1,
            [&](Ticks value) {
              std::get<model::Timer>(tried_.callbacks[i].trigger).period =
                  model::Nanoseconds(value);
            },
            "period of " + callback.id);
      }
    }
    ASSERT_GT(equal_, 2 * different_) << what;
  }

 private:
  bool holds() const {
    return quality(tried_, executor_, overheads_, {.steps = 40'000'000}).not_proved == 0;
  }

  void scale(Ticks factor) {
    for (std::size_t i = 0; i < stated_.callbacks.size(); ++i) {
      const Ticks wcet = stated_.callbacks[i].wcet.count();
      tried_.callbacks[i].wcet = model::Nanoseconds((wcet * factor + 999'999) / 1'000'000);
    }
  }

  model::Application stated_;
  model::Application tried_;
  model::ExecutorChoice executor_;
  Overheads overheads_;
  std::size_t equal_ = 0;
  std::size_t different_ = 0;
};

/// Gives most chains a deadline that is near their bound, so that several limit the margins.
void state_deadlines(RandomApplication& random, model::Application& application,
                     const model::ExecutorChoice& executor, const Overheads& overheads) {
  const auto bounds = chain_bounds(application, executor, overheads);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i].bound) {
      const double deadline = static_cast<double>(*bounds[i].bound) * random.uniform(0.97, 1.6);
      application.chains[i].deadline = model::Nanoseconds(static_cast<Ticks>(deadline));
    }
  }
}

class SensitivitySearch : public ::testing::TestWithParam<Case> {};

TEST_P(SensitivitySearch, GivesTheLimitsOfABisection) {
  const Case& one = GetParam();
  for (const std::uint64_t seed : test::seeds(test::trials(2))) {
    RandomApplication random(seed);
    model::Application application = random.make();
    if (one.spread) {
      random.spread(application, one.executor.kind != ExecutorKind::kEdf);
    }
    if (one.executor.kind == ExecutorKind::kEdf && seed % 3 != 0) {
      random.add_deadlines(application);
    }
    Overheads overheads;
    if (one.overheads) {
      overheads.dispatch = ms(random.uniform(0, 0.05)).count();
      overheads.timer_jitter = ms(random.uniform(0, 0.5)).count();
      overheads.background = ms(random.uniform(0, 0.02)).count();
      overheads.far.max = ms(random.uniform(0, 0.3)).count();
    }
    state_deadlines(random, application, one.executor, overheads);
    AgainstBisection(application, one.executor, overheads).compare("seed " + std::to_string(seed));
  }
}

/// Timers and subscriptions alone under EDF, as in most applications: no syncs.
TEST_P(SensitivitySearch, GivesTheLimitsOfABisectionForTimers) {
  const Case& one = GetParam();
  for (const std::uint64_t seed : test::seeds(test::trials(2))) {
    RandomApplication random(seed);
    Builder builder;
    const int timers = 3 + static_cast<int>(seed % 4);
    for (int i = 0; i < timers; ++i) {
      const double period = std::round(random.uniform(4, 40));
      const std::string id = "t" + std::to_string(i);
      builder.timer(id, period, period * random.uniform(0.05, 0.7) / timers);
      builder.priority(i);
      if (seed % 3 == 0) {
        builder.subscription("s" + id, id, period * random.uniform(0.02, 0.2) / timers);
        builder.chain(id, {id, "s" + id}, i);
      } else {
        builder.chain(id, {id}, i);
      }
    }
    AgainstBisection(builder.done(), one.executor, {}).compare("seed " + std::to_string(seed));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, SensitivitySearch,
    ::testing::Values(Case{ExecutorKind::kEdf}, Case{ExecutorKind::kEdf, false, true},
                      Case{ExecutorKind::kEdf, true, true}, Case{ExecutorKind::kPreemptive},
                      Case{ExecutorKind::kPreemptive, true, true}, Case{ExecutorKind::kWaitSet},
                      Case{ExecutorKind::kEvents}, Case{ExecutorKind::kPicas, true},
                      Case{ExecutorKind::kStaticOrder, false, true}),
    [](const auto& one) {
      return std::string(traits(one.param.executor).name) + (one.param.spread ? "_spread" : "") +
             (one.param.overheads ? "_with_overheads" : "");
    });

}  // namespace
}  // namespace rclrt::analysis
