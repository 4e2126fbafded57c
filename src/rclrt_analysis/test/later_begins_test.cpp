// SPDX-License-Identifier: Apache-2.0
// Schedules that begin later than the application, where its stated offsets meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <compare>
#include <set>

#include "application_builder.hpp"
#include "random_application.hpp"
#include "rclrt/analysis/counter_example_file.hpp"
#include "rclrt/analysis/refute.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

using testing::HasSubstr;

constexpr ExecutorKind kPreemptive = ExecutorKind::kPreemptive;
constexpr std::int64_t kMeeting_ms = (3 * 60 + 12) * 60'000;  // 3 h 12 min

/// Four timers of which all releases are whole milliseconds. They meet at kMeeting_ms, and then
/// again after lcm(97, 101, 103, 107) ms, which is 30 h. `last` has the lowest priority, and takes
/// four times 0.05 ms only then.
model::Application meeting() {
  Builder builder;
  const std::array periods{97, 101, 103, 107};
  for (std::size_t i = 0; i < periods.size(); ++i) {
    builder.timer("t" + std::to_string(i), periods.at(i), 0.05);
  }
  model::Application application = builder.chain("a", {"t0"}, 4)
                                       .chain("b", {"t1"}, 3)
                                       .chain("c", {"t2"}, 2)
                                       .chain("last", {"t3"}, 1, 0.19)
                                       .done();
  for (std::size_t i = 0; i < periods.size(); ++i) {
    set_offset(application, i, static_cast<double>(kMeeting_ms % periods.at(i)));
  }
  return application;
}

std::optional<CounterExample> miss_of_last(const model::Application& application) {
  return find_counter_examples(application, {false, false, false, true},
                               {.executor = kPreemptive, .effort = {.instances = 100'000}})[3];
}

TEST(LaterBegins, AMissHoursAfterTheStartIsFound) {
  const auto application = meeting();
  const auto found = miss_of_last(application);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->begin_ns + found->release_ns, kMeeting_ms * 1'000'000);
  EXPECT_EQ(found->response_ns, ms(0.2).count());
  EXPECT_EQ(found->warm_up_ns, 0);
  EXPECT_LT(found->horizon_ns, ms(10'000).count());
  EXPECT_EQ(replay(application, *found), found->response_ns);
}

TEST(LaterBegins, TheVerdictStatesTheTimeAfterTheStart) {
  const auto application = meeting();
  const Search search{.executor = kPreemptive};
  const auto refuted = refute(application, judge(application, kPreemptive, {}), search);
  EXPECT_EQ(refuted.judgement.chains[3].verdict, Verdict::kRefuted);
  EXPECT_EQ(refuted.judgement.chains[3].note,
            "misses in simulation: released at 3 h 12 min 0 s, it takes 200 µs");
}

TEST(LaterBegins, ThereIsNoneWithADeadlineThatIsMet) {
  auto application = meeting();
  application.chains[3].deadline = ms(0.2);
  EXPECT_FALSE(miss_of_last(application));
}

TEST(LaterBegins, OffsetsThatNeverMeetKeepTheirDistance) {
  // Both periods are multiples of 5 ms, and the offsets are 2 ms apart modulo 5 ms.
  auto application = Builder()
                         .timer("a", 10, 1)
                         .timer("b", 15, 2)
                         .chain("first", {"a"}, 2)
                         .chain("second", {"b"}, 1, 2.5)
                         .done();
  set_offset(application, 0, 0);
  set_offset(application, 1, 7);
  EXPECT_FALSE(find_counter_examples(application, {false, true}, {.executor = kPreemptive})[1]);
  set_offset(application, 1, 9);  // a is released 1 ms after b
  EXPECT_TRUE(find_counter_examples(application, {false, true}, {.executor = kPreemptive})[1]);
}

TEST(LaterBegins, AFileStatesWhenTheScheduleBegins) {
  const auto application = meeting();
  const auto found = miss_of_last(application);
  ASSERT_TRUE(found);
  const std::string text = to_text(*found, application);
  EXPECT_THAT(text, HasSubstr("\nbegins_at_ms: "));
  EXPECT_THAT(text, HasSubstr(" after the application; all other times count from here\n"));
  const auto read = parse_counter_example(text, application);
  ASSERT_TRUE(read.example) << text;
  EXPECT_EQ(*read.example, *found);
}

/// Returns the first error of a file of which a line was replaced.
std::string problem(const std::string& key, const std::string& line) {
  const auto application = meeting();
  std::string text = to_text(*miss_of_last(application), application);
  const std::size_t begin = text.find("\n" + key) + 1;
  text.replace(begin, text.find('\n', begin) - begin, line);
  const auto read = parse_counter_example(text, application);
  return read.diagnostics.empty() ? "" : read.diagnostics.front().message;
}

TEST(LaterBegins, AFileWithOffsetsOfAnotherTimeIsRefused) {
  EXPECT_THAT(problem("  t1: ", "  t1: 0.5"),
              HasSubstr("the first release after begins_at_ms by the offset that the application"));
  EXPECT_THAT(problem("begins_at_ms: ", "begins_at_ms: 1e30"), HasSubstr("at most two years"));
  EXPECT_THAT(problem("begins_at_ms: ", "begins_at_ms: soon"), HasSubstr("milliseconds"));
  EXPECT_THAT(problem("begins_at_ms: ", "warm_up_ms: 1"), HasSubstr("without begins_at_ms"));
}

TEST(LaterBegins, ClockTextHasTheUnitsThatATimeNeeds) {
  EXPECT_EQ(clock_text(0), "0 s");
  EXPECT_EQ(clock_text(1'500'000'000), "1.5 s");
  EXPECT_EQ(clock_text(std::int64_t{3'720} * 1'000'000'000), "1 h 2 min 0 s");
  EXPECT_EQ(clock_text(std::int64_t{90'000} * 1'000'000'000 + 1), "1 d 1 h 0.000000001 s");
}

// From the start on, each b (at 1, 11, ...) meets the a after it (at 5, 15, ...). A schedule that
// began at an a would have sets of an a and the b after it for ever, which are 6 ms apart. So it
// begins at a multiple of 10 ms, and at least the first 10 ms do not count.
TEST(LaterBegins, SynchronisersAreInAStateThatTheApplicationHas) {
  auto application = Builder()
                         .timer("a", 10, 0.01)
                         .timer("b", 10, 0.01)
                         .timer("c", 9.7, 0.03)
                         .timer("d", 10.3, 0.03)
                         .sync("sync", "a", "b", 0.02, 7)
                         .chain("other", {"c"}, 4)
                         .chain("third", {"d"}, 3)
                         .chain("fused", {"a", "sync"}, 2, 0.085)
                         .done();
  set_offset(application, 0, 5);
  set_offset(application, 1, 1);
  set_offset(application, 2, 3.3);
  set_offset(application, 3, 8.1);
  const auto found =
      find_counter_examples(application, {false, false, true},
                            {.executor = kPreemptive, .effort = {.per_trial = 1'000}})[2];
  ASSERT_TRUE(found);
  EXPECT_GT(found->begin_ns, 0);
  EXPECT_EQ(found->begin_ns % ms(10).count(), 0);
  EXPECT_GE(found->warm_up_ns, ms(10).count());
  EXPECT_GE(found->release_ns, found->warm_up_ns);
  EXPECT_LE(found->response_ns, ms(0.01 + 0.01 + 0.02 + 0.03 + 0.03).count());  // all of them
}

/// An instance of a callback, from the start of the application.
struct Ran {
  std::size_t callback = 0;
  std::int64_t release_ns = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  SimulatedOutcome outcome{};
  auto operator<=>(const Ran&) const = default;
};

/// Records the instances that are released from a time on.
class Recorded final : public SimulationObserver {
 public:
  Recorded(std::int64_t begin_ns, std::int64_t from_ns) : begin_ns_(begin_ns), from_ns_(from_ns) {}

  void ended(const SimulatedInstance& instance) override {
    if (begin_ns_ + instance.release_ns >= from_ns_) {
      instances.insert({instance.callback, begin_ns_ + instance.release_ns,
                        begin_ns_ + instance.start_ns, begin_ns_ + instance.end_ns,
                        instance.outcome});
    }
  }

  std::multiset<Ran> instances;

 private:
  std::int64_t begin_ns_;
  std::int64_t from_ns_;
};

/// Fails if the schedule of the counter-example differs from that of the application, simulated
/// from its start, in which callbacks take no time until the schedule counts.
void expect_same_as_from_the_start(const model::Application& application,
                                   const CounterExample& example) {
  const std::int64_t from_ns = example.begin_ns + example.warm_up_ns;
  const auto instances = [&](const model::Application& simulated, std::int64_t begin_ns,
                             std::int64_t warm_up_ns) {
    const auto system =
        simulated_system(simulated, example.executor, counter_example_times(example), example.cpus);
    Recorded recorded(begin_ns, from_ns);
    simulate(system,
             {.horizon_ns = example.begin_ns + example.horizon_ns - begin_ns,
              .warm_up_ns = warm_up_ns,
              .seed = example.seed},
             &recorded);
    return recorded.instances;
  };
  const auto trial = instances(counter_example_application(application, example), example.begin_ns,
                               example.warm_up_ns);
  const auto whole = instances(application, 0, from_ns);
  EXPECT_FALSE(trial.empty());
  EXPECT_TRUE(trial == whole) << to_text(example, application);
}

/// Returns a random application that states all offsets.
model::Application with_offsets(RandomApplication& random) {
  model::Application application = random.make();
  for (model::Callback& callback : application.callbacks) {
    if (auto* timer = std::get_if<model::Timer>(&callback.trigger)) {
      timer->period += ms(0.1) * static_cast<int>(random.uniform(0, 5));
      timer->offset = ms(0.01) * static_cast<int>(random.uniform(0, 1) * timer->period / ms(0.01));
      timer->offset_stated = true;
    }
    callback.wcet = callback.wcet / 3;
  }
  return application;
}

class EachKind : public testing::TestWithParam<const char*> {};

TEST_P(EachKind, HasTheScheduleOfTheApplicationFromItsStart) {
  const auto executor = model::parse_executor(GetParam());
  int later = 0;
  int warm = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    RandomApplication random(seed);
    model::Application application = with_offsets(random);
    if (application.utilisation() >= 0.9) {
      continue;
    }
    Overheads overheads;
    if (seed % 2 == 1) {  // constant delays, which need no random numbers
      overheads.near = {ms(0.05).count(), ms(0.05).count()};
      overheads.dispatch = ms(0.01).count();
    }
    // Each chain is a little too slow for the worst response near the start.
    const auto system =
        simulated_system(application, executor,
                         counter_example_times({.executor = executor, .overheads = overheads}));
    const auto start = simulate(system, {.horizon_ns = ms(200).count()});
    for (std::size_t i = 0; i < application.chains.size(); ++i) {
      application.chains[i].deadline =
          std::max(model::Nanoseconds(start.chains[i].response.worst_ns), ms(0.001));
    }
    const auto found =
        find_counter_examples(application, std::vector<bool>(application.chains.size(), true),
                              {.executor = executor,
                               .overheads = overheads,
                               .effort = {.instances = 15'000, .per_trial = 500, .seed = seed}});
    for (const auto& example : found) {
      const std::int64_t most_ns = std::int64_t{60} * 1'000'000'000;
      if (!example || example->begin_ns == 0 || example->begin_ns > most_ns ||
          example->lowest_execution_percent < 100) {
        continue;
      }
      ++later;
      warm += example->warm_up_ns > 0 ? 1 : 0;
      expect_same_as_from_the_start(application, *example);
    }
  }
  EXPECT_GT(later, 10);
  EXPECT_GT(warm, 3);
}

INSTANTIATE_TEST_SUITE_P(LaterBegins, EachKind,
                         testing::Values("preemptive", "edf", "events", "wait_set", "static_order",
                                         "producer_consumer", "thread_dispatch", "picas",
                                         "per_group", "workshop"));

}  // namespace
}  // namespace rclrt::analysis
