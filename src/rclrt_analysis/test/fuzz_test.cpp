// SPDX-License-Identifier: Apache-2.0
/// Mutated task sets, counter-examples and overheads, the same in every run: any bytes give an
/// answer or located errors. RCLRT_FUZZ_ITERATIONS and RCLRT_FUZZ_SEED select more texts and other
/// ones.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../../rclrt_model/test/mutator.hpp"
#include "application_builder.hpp"
#include "rclrt/analysis/analyse_tasks.hpp"
#include "rclrt/analysis/assign.hpp"
#include "rclrt/analysis/counter_example_file.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/overheads_file.hpp"
#include "rclrt/analysis/read_task_set.hpp"
#include "rclrt/analysis/sensitivity.hpp"

namespace rclrt::analysis {
namespace {

unsigned long iterations() { return model::test::fuzz_iterations(5'000); }

const std::vector<std::string>& task_sets() {
  static const std::vector<std::string> kTexts{
      R"(rclrt: 1
policy: fp_preemptive
tasks:
  - {id: a, c: 2.5, t: 10, priority: 2}
  - {id: b, c: 3, t: 40, d: 30, j: 1, b: 0.5, suspension: 2, priority: 1}
)",
      R"({"rclrt": 1, "policy": "edf", "tasks": [{"id": "a", "c": 1, "t": 3}, {"id": "b", "c": 2, "t": 4}]})",
      R"(rclrt: 1
policy: fp_limited_preemptive
tasks: [{id: a, c: 1, t: 3, region: 1}, {id: b, c: 99999999999999999, t: 999999999999999999}]
)",
      R"(rclrt: 1
policy: edf_nonpreemptive
tasks: [{id: a, c: 0.000000001, t: 3}, {id: b, c: 1, t: 1000000000}]
)",
      R"(rclrt: 1
policy: fp_nonpreemptive
tasks: [{id: a, c: 20, t: 70}, {id: b, c: 35, t: 200}]
)",
  };
  return kTexts;
}

TEST(Fuzz, ATaskSetIsAnalysedOrHasLocatedErrors) {
  model::test::Mutator mutator(task_sets(), model::test::fuzz_seed());
  constexpr Effort kLittle{.steps = 20'000};
  std::size_t accepted = 0;
  for (unsigned long i = 0; i < iterations(); ++i) {
    const std::string text = mutator.next();
    const TaskFileResult read = parse_task_set(text);
    ASSERT_NE(read.file.has_value(), !read.diagnostics.empty()) << text;
    if (!read.file) {
      continue;
    }
    ++accepted;
    try {
      const auto result = analyse_tasks(read.file->tasks, read.file->policy, kLittle);
      ASSERT_EQ(result.tasks.size(), read.file->tasks.size());
      const std::vector<bool> wanted(result.tasks.size(), true);
      for (const auto& found : find_counter_examples(read.file->tasks, read.file->policy, wanted,
                                                     {.instances = 200, .per_trial = 100})) {
        if (found) {
          ASSERT_EQ(replay(read.file->tasks, read.file->policy, *found), found->response) << text;
        }
      }
      sensitivity(read.file->tasks, read.file->policy, kLittle);
      assign_priorities(read.file->tasks, read.file->policy, kLittle);
    } catch (const std::invalid_argument&) {  // NOLINT(bugprone-empty-catch): no such policy
    }
  }
  if (iterations() >= 1000) {
    EXPECT_GT(accepted, iterations() / 100);
  }
}

TEST(Fuzz, ACounterExampleReplaysOrHasLocatedErrors) {
  const auto application = Builder()
                               .timer("a", 10, 6)
                               .subscription("a1", "a", 1)
                               .timer("b", 10, 4)
                               .chain("first", {"a", "a1"}, 2, 5)
                               .chain("second", {"b"}, 1)
                               .done();
  std::vector<std::string> texts;
  const Overheads machine{.dispatch = 1000,
                          .timer_jitter = 2000,
                          .scheduler = 3000,
                          .polling = 4000,
                          .near = {100, 5000},
                          .far = {200, 6000}};
  for (const Search& search : {Search{}, Search{.overheads = machine}}) {
    for (const auto& found : find_counter_examples(application, {true, true}, search)) {
      if (found) {
        texts.push_back(to_text(*found, application));
      }
    }
  }
  ASSERT_FALSE(texts.empty());
  model::test::Mutator mutator(texts, model::test::fuzz_seed());
  std::size_t accepted = 0;
  for (unsigned long i = 0; i < iterations(); ++i) {
    const std::string text = mutator.next();
    const auto read = parse_counter_example(text, application);
    ASSERT_NE(read.example.has_value(), !read.diagnostics.empty()) << text;
    if (!read.example) {
      continue;
    }
    ++accepted;
    if (read.example->horizon_ns > 1'000'000'000) {
      continue;  // a valid hour takes its time
    }
    try {
      replay(application, *read.example);
    } catch (const std::invalid_argument&) {  // NOLINT(bugprone-empty-catch): EDF on several CPUs
    }
  }
  if (iterations() >= 1000) {
    EXPECT_GT(accepted, iterations() / 100);
  }
}

TEST(Fuzz, OverheadsMakeAMachineOrHaveLocatedErrors) {
  const auto application = Builder()
                               .timer("a", 10, 2)
                               .subscription("a1", "a", 1)
                               .chain("first", {"a", "a1"}, 2, 8)
                               .done();
  const std::vector<std::string> texts{
      R"({"rclrt": 1, "kind": "overheads", "executors": {"preemptive": {"dispatch_us": {"n": 9, "min": 2, "p50": 3, "p99": 5, "max": 40}}}, "machine": {"message_bytes": 64}})",
      R"(rclrt: 1
kind: overheads
executors: {wait_set: {polling_us: 20, dispatch_us: 1e1}, edf: {timer_lateness_us: 0.25}}
hop_us: {intra_process: {min: 4, max: 90.5}, same_host: 500}
background_us: {max: 9, max_undisturbed: 7}
rt_bandwidth: {share: 0.95}
)"};
  model::test::Mutator mutator(texts, model::test::fuzz_seed());
  std::size_t accepted = 0;
  for (unsigned long i = 0; i < iterations(); ++i) {
    const std::string text = mutator.next();
    const OverheadsFileResult read = parse_overheads(text, "o.json");
    ASSERT_NE(read.file.has_value(), !read.diagnostics.empty()) << text;
    if (!read.file) {
      continue;
    }
    ++accepted;
    const Machine machine =
        machine_of(*read.file, application, ExecutorKind::kPreemptive,
                   {.statistic = i % 2 == 0 ? Statistic::kMax : Statistic::kP99});
    ASSERT_LE(machine.overheads.far.min, machine.overheads.far.max) << text;
    ASSERT_TRUE(machine.realtime_share >= 0 && machine.realtime_share <= 1) << text;
    const Judgement judgement =
        judge(application, ExecutorKind::kPreemptive, machine, {.steps = 20'000});
    ASSERT_EQ(judgement.chains.size(), 1U) << text;
  }
  if (iterations() >= 1000) {
    EXPECT_GT(accepted, iterations() / 100);
  }
}

}  // namespace
}  // namespace rclrt::analysis
