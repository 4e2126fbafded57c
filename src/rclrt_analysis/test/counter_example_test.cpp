// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/counter_example.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "application_builder.hpp"
#include "rclrt/analysis/counter_example_file.hpp"

namespace rclrt::analysis {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr SearchEffort kLittle{.instances = 50'000};

std::vector<std::optional<CounterExample>> search(
    const model::Application& application, ExecutorKind executor = ExecutorKind::kPreemptive) {
  return find_counter_examples(application, std::vector<bool>(application.chains.size(), true),
                               {.executor = executor, .effort = {.instances = 200'000}});
}

/// Fails if the example is no miss, or does not reproduce it.
void expect_replays(const model::Application& application, const CounterExample& example) {
  EXPECT_GT(example.response_ns, application.chains[example.chain].deadline.count());
  EXPECT_EQ(replay(application, example), example.response_ns);
  const auto read = parse_counter_example(to_text(example, application), application);
  ASSERT_TRUE(read.example) << to_text(example, application);
  EXPECT_EQ(*read.example, example);
}

// b runs 6 to 10 when both are released together; a alone holds.
TEST(CounterExample, TwoChainsOfTooMuchWork) {
  const auto application = Builder()
                               .timer("a", 10, 6)
                               .timer("b", 10, 4)
                               .chain("first", {"a"}, 2)
                               .chain("second", {"b"}, 1, 9)
                               .done();
  const auto found = search(application);
  EXPECT_FALSE(found[0]);
  ASSERT_TRUE(found[1]);
  EXPECT_EQ(found[1]->response_ns, ms(10).count());
  EXPECT_EQ(found[1]->release_ns, 0);
  expect_replays(application, *found[1]);
}

// a needs all of the CPU.
TEST(CounterExample, ACallbackThatNeverRuns) {
  const auto application = Builder()
                               .timer("a", 10, 10)
                               .timer("b", 10, 1)
                               .chain("first", {"a"}, 2)
                               .chain("second", {"b"}, 1)
                               .done();
  const auto found = search(application);
  EXPECT_FALSE(found[0]);
  ASSERT_TRUE(found[1]);
  EXPECT_EQ(found[1]->never_runs, 1U);
  EXPECT_EQ(found[1]->instance, 0U);
  expect_replays(application, *found[1]);
  EXPECT_THAT(to_text(*found[1], application), HasSubstr("never_runs: b\n"));
  EXPECT_THAT(to_text(*found[1], application), HasSubstr("cpus: 1  # of each executor"));
}

// Released together, a runs from 0 to 1. a waits only if the group's less urgent member has just
// started: 5 + 1 - 1 ns.
TEST(CounterExample, ABlockedChainNeedsTheRightOffsets) {
  const auto application = Builder()
                               .timer("a", 10, 1)
                               .group("g")
                               .timer("b", 20, 5)
                               .group("g")
                               .chain("urgent", {"a"}, 2, 5)
                               .done();
  const auto found = search(application);
  ASSERT_TRUE(found[0]);
  EXPECT_EQ(found[0]->response_ns, ms(6).count() - 1);
  EXPECT_EQ(found[0]->offsets_ns, (std::vector<std::int64_t>{1, 0}));
  expect_replays(application, *found[0]);
}

TEST(CounterExample, StatedOffsetsAreKept) {
  auto application = Builder()
                         .timer("a", 10, 6)
                         .timer("b", 10, 4)
                         .chain("first", {"a"}, 2)
                         .chain("second", {"b"}, 1, 9)
                         .done();
  for (model::Callback& callback : application.callbacks) {
    std::get<model::Timer>(callback.trigger).offset_stated = true;
  }
  std::get<model::Timer>(application.callbacks[1].trigger).offset = ms(6);
  EXPECT_FALSE(search(application)[1]);
}

/// Returns the response of the counter-example of the only chain, which is in time without
/// `overheads`.
std::int64_t response_with(const model::Application& application, ExecutorKind executor,
                           const Overheads& overheads) {
  EXPECT_FALSE(search(application, executor)[0]);
  const auto found = find_counter_examples(
      application, {true}, {.executor = executor, .overheads = overheads, .effort = kLittle});
  if (!found[0]) {
    return 0;
  }
  expect_replays(application, *found[0]);
  return found[0]->response_ns;
}

TEST(CounterExample, TheOverheadsOfTheMachineAreSimulated) {
  const auto alone = Builder().timer("a", 10, 3).chain("a", {"a"}, 1, 3.25).done();
  const Overheads machine{.dispatch = ms(1).count(),
                          .timer_jitter = ms(1.5).count(),
                          .scheduler = ms(0.25).count(),
                          .polling = ms(0.5).count(),
                          .background = ms(0.125).count(),
                          .stall = ms(2).count()};
  EXPECT_EQ(response_with(alone, ExecutorKind::kPreemptive, machine), ms(5.5).count());
  EXPECT_EQ(response_with(alone, ExecutorKind::kEdf, machine), ms(5.5).count());
  EXPECT_EQ(response_with(alone, ExecutorKind::kProducerConsumer, machine), ms(5.75).count());
  EXPECT_EQ(response_with(alone, ExecutorKind::kThreadDispatch, machine), ms(5.75).count());
  EXPECT_EQ(response_with(alone, ExecutorKind::kWaitSet, machine), ms(6).count());
}

TEST(CounterExample, MessagesTakeTheirTimeWithinAndBetweenExecutors) {
  auto pair = Builder()
                  .timer("a", 10, 1)
                  .subscription("b", "a", 1)
                  .chain("pair", {"a", "b"}, 1, 2.5)
                  .done();
  const Overheads machine{.near = {ms(0.5).count(), ms(1).count()},
                          .far = {ms(1).count(), ms(2).count()}};
  EXPECT_EQ(response_with(pair, ExecutorKind::kPreemptive, machine), ms(3).count());
  pair.executors.push_back({.name = "other", .cpus = {1}});
  pair.nodes.push_back({.name = "other", .name_space = "/", .executor = 1});
  pair.callbacks[1].node = 1;
  EXPECT_EQ(response_with(pair, ExecutorKind::kPreemptive, machine), ms(4).count());
}

// b meets both releases only if the first one is late and the second is not: 1 + 4 + 4.
TEST(CounterExample, SomeTimersAreLateAndOthersNot) {
  const auto application =
      Builder().timer("a", 10, 4).timer("b", 40, 1).chain("b", {"b"}, 1, 8.5).done();
  auto with_priorities = application;
  with_priorities.callbacks[0].priority = 2;
  const Overheads machine{.timer_jitter = ms(8).count()};
  EXPECT_GT(response_with(with_priorities, ExecutorKind::kPreemptive, machine), ms(8.5).count());
}

// A message of `a` waits for the first event up to 60, and for a later one longer, if that is rare.
TEST(CounterExample, AnEventThatIsRareKeepsASetWaiting) {
  auto application = Builder()
                         .timer("a", 100, 1)
                         .timer("e", 60, 1)
                         .sync("s", {"a", "e"}, 1, 1'000)
                         .chain("fused", {"a", "s"}, 1, 75)
                         .done();
  application.callbacks[1].trigger = model::Event{
      .min_interval = ms(60), .max_interval = ms(150), .offset = {}, .depth = 10, .seed = 0};
  const auto found = search(application);
  ASSERT_TRUE(found[0]);
  EXPECT_TRUE(found[0]->extremes);
  EXPECT_THAT(to_text(*found[0], application), HasSubstr("draws: extremes\n"));
  expect_replays(application, *found[0]);
}

// All four timers must be released within a microsecond, but their phases hardly change during a
// trial of some 250 periods.
TEST(CounterExample, PartsOfTheBestSchedulesAreChanged) {
  const auto application = Builder()
                               .timer("a", 9.999, 1)
                               .timer("b", 10.001, 1)
                               .timer("d", 10.003, 1)
                               .timer("c", 10.007, 1)
                               .chain("a", {"a"}, 4)
                               .chain("b", {"b"}, 3)
                               .chain("d", {"d"}, 2)
                               .chain("c", {"c"}, 1, 3.9999)
                               .done();
  Wanted wanted{.chains = {false, false, false, true}};
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto found =
        search_schedules(application, wanted,
                         {.executor = ExecutorKind::kPreemptive,
                          .effort = {.instances = 20'000, .per_trial = 1'000, .seed = seed}});
    ASSERT_TRUE(found.examples[3]);
  }
}

// Three releases of the event delay a if its bunch comes with a release of a: at 33, 133 and so on.
TEST(CounterExample, ABunchOfAnEventMeetsALaterRelease) {
  auto application = Builder()
                         .timer("a", 100, 1)
                         .timer("e", 10, 0.25)
                         .chain("a", {"a"}, 1, 1.7)
                         .chain("e", {"e"}, 2)
                         .done();
  auto& own = std::get<model::Timer>(application.callbacks[0].trigger);
  own.offset = ms(33);
  own.offset_stated = true;
  application.callbacks[1].trigger = model::Event{.min_interval = ms(0.5),
                                                  .max_interval = ms(35),
                                                  .offset = {},
                                                  .depth = 10,
                                                  .seed = 0,
                                                  .period = ms(10),
                                                  .jitter = ms(25)};
  const auto found = search(application);
  ASSERT_TRUE(found[0]);
  EXPECT_LE(found[0]->response_ns, ms(1.75).count());
  expect_replays(application, *found[0]);
}

TEST(CounterExample, AProvedDeadlineHasNone) {
  const auto application = Builder()
                               .timer("a", 10, 6)
                               .timer("b", 10, 4)
                               .chain("a", {"a"}, 2)
                               .chain("b", {"b"}, 1)
                               .done();
  for (const auto& found : search(application)) {
    EXPECT_FALSE(found);
  }
}

TEST(CounterExample, TheWaitSetOfTheExamplesMissesAndReplays) {
  const auto application = example("autonomous_vehicle");
  std::size_t count = 0;
  for (const auto& found : search(application, ExecutorKind::kWaitSet)) {
    if (!found) {
      continue;
    }
    ++count;
    expect_replays(application, *found);
  }
  EXPECT_GT(count, 0U);
}

TEST(CounterExample, OverloadIsFoundAndEnds) {
  const auto application = Builder()
                               .timer("a", 4, 3)
                               .timer("b", 8, 3)
                               .chain("a", {"a"}, 2)
                               .chain("b", {"b"}, 1, 100)
                               .done();  // U = 1.125
  const auto found = search(application);
  ASSERT_TRUE(found[1]);
  expect_replays(application, *found[1]);
}

TEST(CounterExample, OfAnotherApplicationIsRefused) {
  const auto one = Builder().timer("a", 10, 6).chain("a", {"a"}, 2, 5).done();
  const auto two = Builder().timer("a", 10, 6).timer("b", 10, 1).chain("a", {"a"}, 2, 5).done();
  const auto found = search(one);
  ASSERT_TRUE(found[0]);
  EXPECT_THAT([&] { replay(two, *found[0]); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("the counter-example belongs to another application")));
}

TEST(CounterExampleFile, MistakesAreLocated) {
  const auto application = Builder().timer("a", 10, 6).chain("late", {"a"}, 2, 5).done();
  const std::string good = to_text(*search(application)[0], application);
  const auto problem = [&](const std::string& old, const std::string& fresh) {
    std::string text = good;
    const auto at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    text.replace(at, old.size(), fresh);
    const auto result = parse_counter_example(text, application);
    EXPECT_FALSE(result.example);
    return result.diagnostics.empty() ? "" : to_string(result.diagnostics.front(), "f");
  };
  EXPECT_EQ(problem("application: test", "application: toast"),
            "f:4:14: this is a counter-example of application 'toast'; expected one of application "
            "'test'");
  EXPECT_EQ(problem("  a: 0", "  b: 0").substr(0, 6), "f:16:3");
  EXPECT_EQ(problem("chain: late", "chain: early").substr(0, 6), "f:6:8:");
  EXPECT_EQ(problem("horizon_ms: 6", "horizon_ms: 1e9").substr(0, 7), "f:11:13");
  EXPECT_EQ(problem("cpus: 1", "cpus: 65").substr(0, 6), "f:14:7");
  EXPECT_EQ(problem("cpus: 1", "draws: some\ncpus: 1").substr(0, 7), "f:14:8:");
  EXPECT_NE(problem("seed: 0\n", ""), "");
  EXPECT_EQ(
      problem("offsets_ms:", "overheads_ms: {hop: 1, hop_least: 2}\noffsets_ms:").substr(0, 8),
      "f:15:15:");
  EXPECT_EQ(problem("offsets_ms:", "overheads_ms: {hup: 1}\noffsets_ms:").substr(0, 8), "f:15:16:");
  EXPECT_EQ(problem("offsets_ms:", "delays_from_percent: 101\noffsets_ms:").substr(0, 8),
            "f:15:22:");
}

TEST(CounterExampleFile, AnOffsetThatContradictsTheApplicationIsAnError) {
  auto application = Builder().timer("a", 10, 6).chain("late", {"a"}, 2, 5).done();
  const std::string text = to_text(*search(application)[0], application);
  EXPECT_THAT(text, HasSubstr("\n  a: 0\n"));
  auto& timer = std::get<model::Timer>(application.callbacks[0].trigger);
  timer.offset = ms(3);
  EXPECT_TRUE(parse_counter_example(text, application).example) << "the application states none";
  timer.offset_stated = true;
  const auto result = parse_counter_example(text, application);
  EXPECT_FALSE(result.example);
  ASSERT_EQ(result.diagnostics.size(), 1U);
  EXPECT_EQ(to_string(result.diagnostics.front(), "f"),
            "f:16:6: offset is '0'; expected 3, the offset that the application states (if that "
            "has changed: rclrt analyze --counter-example)");
}

// Lehoczky 1990, example 3: the first job of the second task ends in time, a later one does not.
TEST(TaskCounterExample, ALaterJobMisses) {
  std::vector<Task> tasks(2);
  tasks[0] = {.id = "a", .wcet = 26, .period = 70, .deadline = 70, .priority = 2};
  tasks[1] = {.id = "b", .wcet = 62, .period = 100, .deadline = 116, .priority = 1};
  const auto found = find_counter_examples(tasks, Policy::kFpPreemptive, {true, true}, kLittle);
  EXPECT_FALSE(found[0]);
  ASSERT_TRUE(found[1]);
  EXPECT_GT(found[1]->job, 0U);
  EXPECT_EQ(found[1]->response, 118);
  EXPECT_EQ(replay(tasks, Policy::kFpPreemptive, *found[1]), 118);
}

TEST(TaskCounterExample, JitterCountsFromTheArrival) {
  std::vector<Task> tasks(2);
  tasks[0] = {.id = "a", .wcet = 3, .period = 10, .deadline = 10, .jitter = 8, .priority = 2};
  tasks[1] = {.id = "b", .wcet = 3, .period = 20, .deadline = 8, .priority = 1};
  // a's late job and its next one delay b: 3 + 3 + 3 = 9.
  const auto found = find_counter_examples(tasks, Policy::kFpPreemptive, {true, true}, kLittle);
  ASSERT_TRUE(found[0]);  // 8 late and 3 long
  EXPECT_EQ(found[0]->response, 11);
  ASSERT_TRUE(found[1]);
  EXPECT_EQ(found[1]->response, 9);
  EXPECT_EQ(replay(tasks, Policy::kFpPreemptive, *found[1]), 9);
}

TEST(TaskCounterExample, EachPolicyHasItsOwnSchedule) {
  std::vector<Task> tasks(2);
  tasks[0] = {.id = "a", .wcet = 2, .period = 6, .deadline = 4, .priority = 2};
  tasks[1] = {.id = "b", .wcet = 4, .period = 12, .deadline = 12, .priority = 1};
  // a waits for b only if b runs to its end: 4 - 1 + 2.
  EXPECT_FALSE(find_counter_examples(tasks, Policy::kFpPreemptive, {true, true}, kLittle)[0]);
  EXPECT_FALSE(find_counter_examples(tasks, Policy::kEdf, {true, true}, kLittle)[0]);
  for (const Policy policy : {Policy::kFpNonpreemptive, Policy::kEdfNonpreemptive}) {
    const auto found = find_counter_examples(tasks, policy, {true, true}, kLittle);
    ASSERT_TRUE(found[0]);
    EXPECT_EQ(found[0]->response, 5);
    EXPECT_EQ(replay(tasks, policy, *found[0]), 5);
  }
}

}  // namespace
}  // namespace rclrt::analysis
