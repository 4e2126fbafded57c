// SPDX-License-Identifier: Apache-2.0
/// Schedules that exceed the limits of chains that sample.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "rclrt/analysis/counter_example_file.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/refute.hpp"
#include "sampling.hpp"

namespace rclrt::analysis {
namespace {

using test::as_ms;
using test::sampling_application;
using test::two_timers;
using testing::HasSubstr;

Refutation refuted_sampling(const model::Application& application, const std::string& executor) {
  const auto choice = model::parse_executor(executor);
  return refute(application, judge(application, choice, {}),
                {.executor = choice, .effort = {.instances = 200'000}});
}

/// Fails if the example does not show its time again, from its file too.
void expect_shown_again(const model::Application& application, const CounterExample& example) {
  EXPECT_EQ(replay(application, example), example.response_ns);
  const auto read = parse_counter_example(to_text(example, application), application);
  ASSERT_TRUE(read.example) << to_text(example, application);
  EXPECT_EQ(*read.example, example);
}

// Periods 10 and 20, free phases: what happens just after a release of the writer waits 10 ms for
// the next one, and the reader may sample just before that one stores.
TEST(SamplingRefute, AReactionAboveItsLimitIsRefutedByASchedule) {
  const auto application = sampling_application(
      two_timers("timer: {period_ms: 10}, wcet_ms: 1, priority: 1",
                 "timer: {period_ms: 20}, wcet_ms: 2, priority: 2", ", max_reaction_ms: 31"));
  const Refutation found = refuted_sampling(application, "preemptive");
  const CauseEffectBound& chain = found.judgement.cause_effect_chains.at(0);
  EXPECT_EQ(chain.verdict, Verdict::kRefuted);
  EXPECT_THAT(chain.note, HasSubstr("reacts too late in simulation: what happens at "));
  ASSERT_TRUE(found.cause_effect_examples.at(0));
  const CounterExample& example = *found.cause_effect_examples[0];
  EXPECT_EQ(example.limit, Limit::kReaction);
  EXPECT_GT(as_ms(example.response_ns), 31);
  EXPECT_LE(example.response_ns, *chain.reaction);
  expect_shown_again(application, example);
  EXPECT_FALSE(found.judgement.feasible);
}

TEST(SamplingRefute, AnAgeAboveItsLimitIsRefutedByASchedule) {
  const auto application = sampling_application(
      two_timers("timer: {period_ms: 50}, wcet_ms: 1, priority: 1",
                 "timer: {period_ms: 10}, wcet_ms: 2, priority: 2", ", max_age_ms: 51"));
  const Refutation found = refuted_sampling(application, "wait_set");
  const CauseEffectBound& chain = found.judgement.cause_effect_chains.at(0);
  EXPECT_EQ(chain.verdict, Verdict::kRefuted);
  EXPECT_THAT(chain.note, HasSubstr("uses old data in simulation: released at "));
  ASSERT_TRUE(found.cause_effect_examples.at(0));
  const CounterExample& example = *found.cause_effect_examples[0];
  EXPECT_EQ(example.limit, Limit::kAge);
  EXPECT_GT(as_ms(example.response_ns), 51);
  expect_shown_again(application, example);
  const std::string text = to_text(example, application);
  EXPECT_THAT(text, HasSubstr("# Chain path exceeds its max_age_ms. To see it"));
  EXPECT_THAT(text, HasSubstr("\nmax_age_ms: 51\n"));
  const auto mixed = parse_counter_example(text + "reaction_ms: 3\n", application);
  ASSERT_FALSE(mixed.diagnostics.empty());
  EXPECT_THAT(mixed.diagnostics[0].message, HasSubstr("states two times"));
  const auto starving = parse_counter_example(text + "never_runs: a\n", application);
  ASSERT_FALSE(starving.diagnostics.empty());
  EXPECT_THAT(starving.diagnostics[0].message, HasSubstr("never_runs"));
}

TEST(SamplingRefute, WithLogicalExecutionTimeTheInstanceIsTheOneWithTheOutput) {
  const auto application = sampling_application(
      "executors: [{name: main, cpus: [0]}]\nnodes: [{name: n}]\ncallbacks:\n"
      "  - {id: a, node: n, timer: {period_ms: 10, offset_ms: 0}, wcet_ms: 1, stores: [x]}\n"
      "  - {id: b, node: n, timer: {period_ms: 20, offset_ms: 5}, wcet_ms: 2, reads: "
      "[x]}\nchains:\n"
      "  - {id: first, callbacks: [a], deadline_ms: 7, let: true}\n"
      "  - {id: second, callbacks: [b], deadline_ms: 18, let: true}\n"
      "  - {id: there, callbacks: [a, b], max_age_ms: 30}\n");
  const Refutation found = refuted_sampling(application, "preemptive");
  ASSERT_TRUE(found.cause_effect_examples.at(0));
  const CounterExample& example = *found.cause_effect_examples[0];
  // b is released at 5, 25, ... At 25 it reads what was released at 10 and moved at 17; its output
  // counts at 25 + 18.
  EXPECT_EQ(example.instance, 1U);
  EXPECT_EQ(as_ms(example.release_ns), 10);
  EXPECT_EQ(as_ms(example.response_ns), 33);
  expect_shown_again(application, example);
}

// The writer needs all of the CPU, so the reader never runs.
TEST(SamplingRefute, AReactionThatNeverComesIsRefuted) {
  const auto application = sampling_application(
      two_timers("timer: {period_ms: 10}, wcet_ms: 10, priority: 2",
                 "timer: {period_ms: 20}, wcet_ms: 2, priority: 1", ", max_reaction_ms: 50"));
  const Refutation found = refuted_sampling(application, "preemptive");
  EXPECT_EQ(found.judgement.cause_effect_chains.at(0).verdict, Verdict::kRefuted);
  ASSERT_TRUE(found.cause_effect_examples.at(0));
  const CounterExample& example = *found.cause_effect_examples[0];
  EXPECT_EQ(example.limit, Limit::kReaction);
  EXPECT_EQ(example.response_ns, example.horizon_ns - example.release_ns);
  expect_shown_again(application, example);
}

TEST(SamplingRefute, ChainsWithinTheirLimitsAreNotRefuted) {
  const auto application = sampling_application(
      two_timers("timer: {period_ms: 10}, wcet_ms: 1, priority: 1",
                 "timer: {period_ms: 20}, wcet_ms: 2, priority: 2", ", max_reaction_ms: 35"));
  const Refutation found = refuted_sampling(application, "preemptive");
  EXPECT_EQ(found.judgement.cause_effect_chains.at(0).verdict, Verdict::kProved);
  EXPECT_FALSE(found.cause_effect_examples.at(0));
}

}  // namespace
}  // namespace rclrt::analysis
