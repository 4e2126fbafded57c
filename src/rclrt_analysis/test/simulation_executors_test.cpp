// SPDX-License-Identifier: Apache-2.0
// Schedules worked by hand that show the differences between the executors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulated.hpp"

namespace rclrt::analysis::test {
namespace {

using testing::ElementsAre;

// Groups.

TEST(SimulatedGroups, let_a_member_run_at_the_level_of_the_most_urgent_one) {
  // a (level 3) and c (level 1) exclude each other: from 1 on c runs at level 3, so b (level 2),
  // released at 2, does not delay a, released at 3, beyond the end of c.
  System system(ExecutorKind::kPreemptive);
  system.timer(100, 1, 3, 3);
  system.timer(100, 4, 2, 2);
  system.timer(100, 4, 1, 1);
  system[0].group = system[2].group = 0;
  EXPECT_EQ(schedule(system, 20), "c 1-5 a 5-6 b 6-10");
}

TEST(SimulatedGroups, delay_a_callback_by_one_less_urgent_member_only) {
  // Two less urgent members: the second may not start between.
  System system(ExecutorKind::kPreemptive);
  system.timer(100, 1, 3, 1);
  system.timer(100, 4, 2, 0);
  system.timer(100, 4, 1, 0);
  system[0].group = system[1].group = system[2].group = 0;
  EXPECT_EQ(schedule(system, 20), "b 0-4 a 4-5 c 5-9");
}

TEST(SimulatedGroups, park_a_member_on_a_second_cpu_and_let_the_worker_take_other_work) {
  // CPU 0 runs a from 0 to 4. At 1 its fellow b is parked, and c of b's level runs instead.
  System system(ExecutorKind::kPreemptive, 2);
  system.timer(100, 4, 2, 0);
  system.timer(100, 2, 1, 1);
  system.timer(100, 5, 1, 1);
  system[0].group = system[1].group = 0;
  EXPECT_EQ(schedule(system, 20), "a 0-4 1:c 1-6 b 4-6");
}

TEST(SimulatedGroups, of_its_own_keep_a_callback_from_overtaking_itself_on_two_cpus) {
  System system(ExecutorKind::kPreemptive, 2);
  system.timer(2, 3, 1);
  EXPECT_EQ(schedule(system, 6.5), "a 0-3 a 3-6 a 6-6.5");
}

TEST(SimulatedGroups, under_edf_let_nobody_start_whose_preemption_level_is_not_above_the_ceiling) {
  // Stack resource policy: c holds the group of a (relative deadline 5), so b (6) may not start at
  // 1 although its deadline is earlier; d (relative deadline 3) may.
  System system(ExecutorKind::kEdf);
  system.timer(100, 1, 0, 2);
  system.timer(100, 1, 0, 1);
  system.timer(100, 4, 0, 0);
  system.timer(100, 1, 0, 2);
  system[0].deadline_ns = ms(5);
  system[1].deadline_ns = ms(6);
  system[3].deadline_ns = ms(3);
  system[0].group = system[2].group = 0;
  // Then a and b have the same deadline, 7: b was released first.
  EXPECT_EQ(schedule(system, 20), "c 0-2 d 2-3 c 3-5 b 5-6 a 6-7");
}

TEST(SimulatedWorkshop, an_idle_thread_wakes_up_above_what_runs) {
  System system(ExecutorKind::kWorkshop);
  system.value.executors[0].dispatch_ns = ms(1);
  system.timer(100, 4, 2);
  system.timer(100, 1, 1, 3);
  // An idle thread takes 1 above all levels for each release. The dispatch takes 1 at the level.
  EXPECT_EQ(schedule(system, 20), "a 1-3 a 4-7 b 7-9");
}

TEST(SimulatedWorkshop, has_no_scheduler_thread_on_other_cpus) {
  System system(ExecutorKind::kWorkshop, 2);
  system.value.executors[0].dispatch_ns = ms(1);
  system.value.executors[0].cpus = {0};
  system.value.executors[0].scheduler_cpus = {1};
  system.timer(100, 4, 2);
  system.timer(100, 1, 1, 2);
  EXPECT_EQ(schedule(system, 20), "a 1-2 a 3-7 b 7-9");
}

// Several EDF executors on one CPU: each orders its own instances. Between executors the kernel
// only knows the priorities of their workers, from 95 - the number of relative deadlines up.

TEST(SimulatedEdfs, on_one_cpu_do_not_preempt_each_other_by_deadline) {
  System system(ExecutorKind::kEdf);
  system.timer(100, 4, 0);
  system.timer(100, 1, 0, 1);
  system.timer(100, 4, 0, 20);
  system.timer(100, 1, 0, 21);
  system.timer(100, 2, 0, 22);
  system.value.executors.push_back({.choice = ExecutorKind::kEdf});
  for (const std::size_t other : {1, 2, 3}) {
    system[other].executor = 1;
  }
  system[0].deadline_ns = system[4].deadline_ns = ms(10);
  system[1].deadline_ns = system[3].deadline_ns = ms(5);
  system[2].deadline_ns = ms(30);
  // b is due at 6, a at 10. But b has the lower worker of the second executor, and the only worker
  // of the first one is above it. The upper worker of the second preempts c, but not e: e's worker
  // is not below it.
  EXPECT_EQ(schedule(system, 19), "a 0-4 b 4-5");
  EXPECT_EQ(schedule(system, 30), "a 0-4 b 4-5 c 20-21 d 21-22 e 22-24 c 24-27");
  for (const std::size_t other : {1, 2, 3}) {
    system[other].executor = 0;
  }
  EXPECT_EQ(schedule(system, 19), "a 0-1 b 1-2 a 2-5");  // of one executor
}

TEST(SimulatedEdfs, on_one_cpu_go_on_with_what_waits_before_the_other_one_begins) {
  System system(ExecutorKind::kEdf);
  system.timer(100, 2, 0);
  system.timer(100, 1, 0, 0.5);
  system.timer(100, 1, 0, 1);
  system.timer(100, 1, 0, 1.5);
  system.value.executors.push_back({.choice = ExecutorKind::kEdf});
  system[1].executor = 1;
  for (const std::size_t each : {0, 1, 2, 3}) {
    system[each].deadline_ns = ms(10);
  }
  EXPECT_EQ(schedule(system, 20), "a 0-2 c 2-3 d 3-4 b 4-5");
}

TEST(SimulatedEdfs, ask_only_the_earliest_whether_a_group_lets_it_start) {
  // a holds a group with the shortest relative deadline of 5. b, due at 50, may not start. c, due
  // at 60, could start by the group, but is later than b.
  System system(ExecutorKind::kEdf);
  system.timer(1000, 70, 0);
  system.timer(1000, 1, 0, 42);
  system.timer(1000, 1, 0, 57);
  system.timer(1000, 1, 0, 900);
  system.timer(1000, 1, 0, 900);
  const std::vector<double> deadlines{100, 8, 3, 5, 100};
  for (std::size_t i = 0; i < deadlines.size(); ++i) {
    system[i].deadline_ns = ms(deadlines[i]);
  }
  system[0].group = system[3].group = 0;
  EXPECT_EQ(schedule(system, 800), "a 0-70 b 70-71 c 71-72");
  system.value.executors.push_back({.choice = ExecutorKind::kEdf});
  system[4].executor = 1;  // on the same CPU
  EXPECT_EQ(schedule(system, 800), "a 0-70 b 70-71 c 71-72");
}

TEST(SimulatedEdfs, on_one_cpu_go_on_with_what_a_group_has_kept_waiting) {
  // b waits for the group of a, and c, of the other executor, for a worker of the same priority.
  System system(ExecutorKind::kEdf);
  system.timer(1000, 2, 0);
  system.timer(1000, 1, 0, 1);
  system.timer(1000, 1, 0, 1.5);
  system.timer(1000, 1, 0, 900);
  system.value.executors.push_back({.choice = ExecutorKind::kEdf});
  system[2].executor = system[3].executor = 1;
  const std::vector<double> deadlines{100, 10, 50, 60};
  for (std::size_t i = 0; i < deadlines.size(); ++i) {
    system[i].deadline_ns = ms(deadlines[i]);
  }
  system[0].group = system[1].group = 0;
  EXPECT_EQ(schedule(system, 800), "a 0-2 b 2-3 c 3-4");
}

TEST(SimulatedEdfs, on_one_cpu_hand_the_place_over_to_what_is_due_earlier) {
  // The lowest worker of each executor has the same priority, 93. b waits since 0.5. At 1 e of the
  // same executor arrives, due earlier. The same worker starts it before d of the third executor.
  System system(ExecutorKind::kEdf);
  system.timer(100, 2, 0);
  system.timer(100, 1, 0, 0.5);
  system.timer(100, 1, 0, 50);
  system.timer(100, 1, 0, 0.7);
  system.timer(100, 1, 0, 1);
  for (int i = 0; i < 2; ++i) {
    system.value.executors.push_back({.choice = ExecutorKind::kEdf});
  }
  system[1].executor = system[4].executor = 1;
  system[3].executor = 2;
  system[0].deadline_ns = system[1].deadline_ns = system[3].deadline_ns = ms(10);
  system[2].deadline_ns = system[4].deadline_ns = ms(9);
  system.value.executors[2].top_priority = 94;
  EXPECT_EQ(schedule(system, 20), "a 0-2 e 2-3 b 3-4 d 4-5");
}

// Events.

TEST(SimulatedEvents, may_have_a_thread_for_timers_beside_that_of_the_messages) {
  // On two CPUs the timer c does not wait for the message's callback b, as it does on one thread.
  System system(ExecutorKind::kEvents, 2);
  const std::size_t a = system.timer(100, 1, 0);
  system.subscription(a, 5, 0);
  system.timer(100, 1, 0, 2);
  EXPECT_EQ(schedule(system, 20), "a 0-1 b 1-6 c 6-7");
  system.value.executors[0].choice.timers_thread = true;
  EXPECT_EQ(schedule(system, 20), "a 0-1 1:b 1-6 c 2-3");
}

// Scheduler threads, workers, overheads.

TEST(SimulatedProducerConsumer, has_one_worker_per_level_where_preemptive_has_one_per_cpu) {
  System system(ExecutorKind::kPreemptive, 2);
  system.timer(100, 3, 1);
  system.timer(100, 2, 1);
  EXPECT_EQ(schedule(system, 20), "a 0-3 1:b 0-2");
  system.value.executors[0].choice.kind = ExecutorKind::kProducerConsumer;
  EXPECT_EQ(schedule(system, 20), "a 0-3 b 3-5");
  system.value.executors[0].workers_per_level = 2;
  EXPECT_EQ(schedule(system, 20), "a 0-3 1:b 0-2");
}

TEST(SimulatedOverheads, delay_each_instance_between_pick_up_and_first_instruction) {
  System system(ExecutorKind::kPreemptive);
  system.timer(100, 1, 2, 2);
  system.timer(100, 3, 1);
  system.value.executors[0].dispatch_ns = ms(0.5);
  // 0    0.5    2    2.5    3.5    5
  // (b)  b      (a)  a      b
  EXPECT_EQ(schedule(system, 20), "b 0-2 a 2-3.5 b 3.5-5");
  struct Starts final : SimulationObserver {
    void ended(const SimulatedInstance& instance) override {
      times.emplace_back(to_ms(instance.start_ns), to_ms(instance.cpu_ns), instance.preemptions);
    }
    std::vector<std::tuple<double, double, unsigned>> times;
  } starts;
  system.run(20, &starts);
  EXPECT_THAT(starts.times, ElementsAre(std::tuple(2.5, 1.5, 0), std::tuple(0.5, 3.5, 1)));
}

TEST(SimulatedOverheads,
     of_a_scheduler_thread_delay_the_most_urgent_callback_by_releases_below_it) {
  for (const ExecutorKind kind : {ExecutorKind::kProducerConsumer, ExecutorKind::kThreadDispatch}) {
    System system(kind);
    system.timer(100, 2, 9);
    system.timer(100, 1, 1, 1);
    system.value.executors[0].scheduler_ns = ms(0.25);
    EXPECT_EQ(schedule(system, 20), "a 0.25-1 a 1.25-2.5 b 2.5-3.5") << traits(kind).name;
  }
}

// Overload and policies of timers.

/// A publisher with a period of 1 ms, and a subscriber that takes 2.4 ms.
System overloaded(model::Overload overload, std::size_t depth) {
  System system(ExecutorKind::kPreemptive);
  const std::size_t a = system.timer(1, 0, 2);
  const std::size_t b = system.subscription(a, 2.4, 1, depth);
  system[b].overload = overload;
  system.chain({a, b});
  return system;
}

/// Returns the numbers of the messages that ran to their end.
std::vector<std::uint64_t> completed(const System& system, double horizon) {
  struct Ends final : SimulationObserver {
    void ended(const SimulatedInstance& instance) override {
      if (instance.callback == 1) {
        numbers.push_back(instance.tokens.front().instance);
      }
    }
    std::vector<std::uint64_t> numbers;
  } ends;
  system.run(horizon, &ends);
  return ends.numbers;
}

TEST(SimulatedOverload, queues_up_to_the_depth_and_then_drops_the_oldest_message) {
  // 0 runs from 0 to 2.4, and 1 and 2 wait. Then 1 runs; 3 waits, too, and 4 replaces 2. At 4.8 3
  // runs; 5 waits, 6 replaces 4, and 7 replaces 5. At 7.2 6 runs.
  EXPECT_THAT(completed(overloaded(model::Overload::kQueue, 2), 10.1), ElementsAre(0, 1, 3, 6));
}

TEST(SimulatedOverload, keeps_the_last_message) {
  EXPECT_THAT(completed(overloaded(model::Overload::kKeepLast, 10), 10.1), ElementsAre(0, 2, 4, 7));
}

TEST(SimulatedOverload, skips_what_comes_while_one_runs_but_the_newest_message_stays_for_the_next) {
  // 1 and 2 arrive while 0 runs; at 3 the next release takes message 3.
  EXPECT_THAT(completed(overloaded(model::Overload::kSkipIfRunning, 10), 10.1),
              ElementsAre(0, 3, 6));
}

TEST(SimulatedTimers, skip_or_rebase_releases_that_nobody_could_keep) {
  System system(ExecutorKind::kPreemptive);
  system.timer(2, 5, 1);
  auto& timer = std::get<TimerTrigger>(system[0].trigger);
  timer.overrun = model::OverrunPolicy::kSkip;
  struct Releases final : SimulationObserver {
    void ended(const SimulatedInstance& instance) override {
      times.push_back(to_ms(instance.release_ns));
    }
    std::vector<double> times;
  };
  Releases skip;
  system.run(16, &skip);
  EXPECT_THAT(skip.times, ElementsAre(0, 2, 6));
  timer.overrun = model::OverrunPolicy::kRebase;
  Releases rebase;
  system.run(16, &rebase);
  EXPECT_THAT(rebase.times, ElementsAre(0, 2, 7));
}

// Several executors, CPUs, messages.

TEST(SimulatedExecutors, that_share_a_cpu_compete_by_their_operating_system_priorities) {
  // Both executors map their highest level to the same priority, for any number of the level.
  System system(ExecutorKind::kPreemptive);
  system.value.executors.push_back({.choice = ExecutorKind::kPreemptive});
  system.timer(100, 4, 9);
  system.timer(100, 1, 1, 1);
  system.timer(100, 1, 0, 1);
  system[1].executor = system[2].executor = 1;
  EXPECT_EQ(schedule(system, 20), "a 0-4 b 4-5 c 5-6");
}

TEST(SimulatedExecutors, on_two_cpus_run_the_two_most_urgent) {
  System system(ExecutorKind::kPreemptive, 2);
  system.timer(100, 4, 1);
  system.timer(100, 4, 2);
  system.timer(100, 1, 3, 1);
  EXPECT_EQ(schedule(system, 20), "b 0-4 1:a 0-1 1:c 1-2 1:a 2-5");
}

TEST(SimulatedExecutors, schedule_on_another_cpu_beside_the_workers) {
  System system(ExecutorKind::kProducerConsumer, 2);
  system.value.executors[0].cpus = {0};
  system.value.executors[0].scheduler_ns = ms(1);
  system.timer(100, 4, 1);
  system.timer(100, 2, 2, 2);
  EXPECT_EQ(schedule(system, 20), "a 1-2 b 3-5 a 5-8");
  system.value.executors[0].scheduler_cpus = {1};
  EXPECT_EQ(schedule(system, 20), "a 1-3 b 3-5 a 5-7");
}

TEST(SimulatedMessages, of_a_synchroniser_are_paired_with_the_nearest_stamp_in_the_window) {
  System system(ExecutorKind::kPreemptive);
  const std::size_t a = system.timer(10, 0, 2);
  const std::size_t b = system.timer(10, 0, 2, 4);
  const std::size_t s = system.add(1, 1, SyncTrigger{.depth = 10, .window_ns = ms(5)});
  system.connect(a, s, 0);
  system.connect(b, s, 1);
  system.chain({a, s});
  system.chain({b, s});
  EXPECT_EQ(schedule(system, 30), "c 4-5 c 14-15 c 24-25");
  EXPECT_THAT(worst_chains(system, 30), ElementsAre(5, 1));
  std::get<SyncTrigger>(system[s].trigger).window_ns = ms(3);
  EXPECT_EQ(schedule(system, 30), "");
}

TEST(SimulatedMessages, on_one_connection_do_not_overtake_each_other) {
  System system(ExecutorKind::kPreemptive);
  const std::size_t a = system.timer(1, 0, 2);
  const std::size_t b = system.add(0, 1, MessageTrigger{});
  system[a].topics = {{{b, 0, TimeDistribution::list({ms(5), 0, 0})}}};
  system.chain({a, b});
  EXPECT_THAT(completed(system, 5.5), ElementsAre(0, 1, 2));
}

TEST(Simulations, repeat_for_the_same_seed_and_differ_for_another) {
  System system(ExecutorKind::kPreemptive);
  system.timer(10, 1, 1);
  system[0].execution = TimeDistribution::uniform(0, ms(10));
  const auto run = [&](std::uint64_t seed) {
    Gantt gantt;
    simulate(system.value, {.horizon_ns = ms(100), .seed = seed}, &gantt);
    return gantt.text();
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(Simulations, give_an_instance_the_same_execution_time_under_each_executor) {
  struct Times final : SimulationObserver {
    void ended(const SimulatedInstance& instance) override {
      cpu_ns[instance.callback].push_back(instance.cpu_ns);
    }
    std::vector<std::int64_t> cpu_ns[2];
  };
  System system(ExecutorKind::kPreemptive);
  system.timer(10, 0, 1);
  system.timer(15, 0, 2);
  system[0].execution = system[1].execution = TimeDistribution::uniform(0, ms(4));
  Times preemptive;
  system.run(99, &preemptive);
  system.value.executors[0].choice.kind = ExecutorKind::kWaitSet;
  Times wait_set;
  system.run(99, &wait_set);
  EXPECT_EQ(preemptive.cpu_ns[0], wait_set.cpu_ns[0]);
  EXPECT_EQ(preemptive.cpu_ns[1], wait_set.cpu_ns[1]);
}

}  // namespace
}  // namespace rclrt::analysis::test
