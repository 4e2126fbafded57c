// SPDX-License-Identifier: Apache-2.0
/// Every kind of the registry of executors runs random graphs in the order of their simulation and
/// has the traits that its entry states, and no simulated response is above its bound. A new kind
/// is tested as soon as it is in the registry. timed_conformance_test.cpp compares the times. The
/// tests of what a kind offers are src/rclrt/test/capabilities, those of its steady state are
/// src/rclrt_executor/test/steady_state_test.cpp; they, too, run for every kind.
///
/// Time stands still: the first callback is released once, and the messages of earlier callbacks
/// release all others. The order then depends on the executor alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <rclrt/analysis/chain_bounds.hpp>
#include <rclrt/analysis/simulation.hpp>
#include <rclrt/model/executor_choice.hpp>
#include <rclrt/model/parse.hpp>
#include <rclrt/model/write.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "conformance.hpp"
#include "rclrt/executor/kinds.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::simulator {
namespace {

constexpr std::uint64_t kGraphs = 50;
constexpr std::int64_t kPeriod_ns = 1'000'000'000;

/// Returns a timer c0 and callbacks of messages c1 ... on one executor. Each publishes to some of
/// those after it, in any order; some share groups.
model::Application random_application(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  const std::size_t count = 3 + up_to(6);
  std::vector<std::vector<std::size_t>> publishes(count);
  for (std::size_t i = 1; i < count; ++i) {
    publishes[up_to(i - 1)].push_back(i);
    if (const std::size_t other = up_to(i - 1); up_to(2) == 0 && publishes[other].empty()) {
      publishes[other].push_back(i);
    }
  }
  std::string text =
      "rclrt: 1\nname: conformance\nexecutors: [{name: only, cpus: [0]}]\n"
      "nodes: [{name: n, executor: only}]\ncallbacks:\n";
  for (std::size_t i = 0; i < count; ++i) {
    std::ranges::shuffle(publishes[i], random);
    const std::size_t priority = up_to(3);
    // The deadlines are so far apart that the time of a run does not matter.
    text += "  - {id: c" + std::to_string(i) + ", node: n, " +
            (i == 0 ? "timer: {period_ms: 1000, offset_ms: 0}"
                    : "subscription: {topic: t" + std::to_string(i) + ", depth: 100}") +
            ", wcet_ms: 1, priority: " + std::to_string(priority) +
            ", deadline_ms: " + std::to_string((9 - priority) * 100'000);
    if (const std::size_t group = up_to(5); group < 2) {
      text += ", group: g" + std::to_string(group);
    }
    for (std::size_t k = 0; k < publishes[i].size(); ++k) {
      text += (k == 0 ? ", publishes: [t" : ", t") + std::to_string(publishes[i][k]);
    }
    text += publishes[i].empty() ? "}\n" : "]}\n";
  }
  text += "chains:\n";
  for (const std::size_t next : publishes[0]) {
    text += "  - {id: to_c" + std::to_string(next) + ", callbacks: [c0, c" + std::to_string(next) +
            "], deadline_ms: 1000, priority: 1}\n";
  }
  const auto parsed = model::parse_application(text);
  EXPECT_TRUE(parsed.application) << text;
  return parsed.application.value();
}

/// The callbacks in the order of their starts, and in that of their ends.
struct Order {
  std::vector<std::size_t> starts;
  std::vector<std::size_t> ends;

  bool operator==(const Order&) const = default;
};

void PrintTo(const Order& order, std::ostream* out) {
  for (const auto* callbacks : {&order.starts, &order.ends}) {
    *out << (callbacks == &order.starts ? "starts" : ", ends");
    for (const std::size_t callback : *callbacks) {
      *out << " c" << callback;
    }
  }
}

/// Collects the order of a simulation.
class SimulatedOrder final : public analysis::SimulationObserver {
 public:
  void ended(const analysis::SimulatedInstance& instance) override {
    starts_[{instance.start_ns, instance.id}] = instance.callback;
    ends_.push_back(instance.callback);
  }
  Order order() const {
    Order result{.starts = {}, .ends = ends_};
    for (const auto& [start, callback] : starts_) {
      result.starts.push_back(callback);
    }
    return result;
  }

 private:
  std::map<std::pair<std::int64_t, std::uint64_t>, std::size_t> starts_;
  std::vector<std::size_t> ends_;
};

/// The application on the engine, on one CPU. The first callback is released twice. The order is
/// that of the second time, when all threads have slept: a thread that has only started is not
/// behind those that became ready before it.
class EngineRun final : public ApplicationOnEngine {
 public:
  EngineRun(const model::Application& application, const model::ExecutorChoice& choice,
            std::size_t instances)
      : ApplicationOnEngine(application, choice, Timers::kByHand, 100),
        instances_(instances),
        starts_(2 * instances),
        ends_(2 * instances) {}

  Order run() {
    executor().prepare();
    publish(0);
    {
      // On the same CPU, with normal scheduling: it runs when the executor's threads sleep.
      const realtime::Thread second({.name = "release", .scheduling = {.cpus = {cpu()}}}, [this] {
        while (ended_ < instances_) {
          std::this_thread::yield();
        }
        publish(0);
      });
      executor().spin();
    }
    const auto half = static_cast<std::ptrdiff_t>(instances_);
    return {.starts = {starts_.begin() + half, starts_.end()},
            .ends = {ends_.begin() + half, ends_.end()}};
  }

 private:
  void run_callback(std::size_t callback) override {
    if (const std::size_t place = started_++; place < starts_.size()) {
      starts_[place] = callback;
    }
    publish_from(callback);
    const std::size_t place = ended_++;
    if (place < ends_.size()) {
      ends_[place] = callback;
    }
    if (place + 1 >= ends_.size()) {
      executor().cancel();
    }
  }

  const std::size_t instances_;
  std::vector<std::size_t> starts_;
  std::vector<std::size_t> ends_;
  std::atomic<std::size_t> started_{0};
  std::atomic<std::size_t> ended_{0};
};

class Conformance : public testing::TestWithParam<std::string> {
 protected:
  const model::ExecutorChoice choice = model::parse_executor(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Every, Conformance, testing::ValuesIn(names_in_registry()),
                         [](const auto& each) { return test_name(each.param); });

TEST_P(Conformance, TheEngineRunsInTheOrderOfTheSimulation) {
  if (!traits(choice).one_at_a_time || choice.max_threads() > 1) {
    if (const auto reason = realtime::why_no_realtime(model::kTopPriority)) {
      GTEST_SKIP() << "callbacks run to completion: " << *reason;
    }
  }
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const model::Application application = random_application(seed);
    SimulatedOrder expected;
    const auto result = simulate(analysis::simulated_system(application, choice),
                                 {.horizon_ns = kPeriod_ns}, &expected);
    EngineRun engine(application, choice, result.instances);
    ASSERT_EQ(engine.run(), expected.order()) << "seed " << seed << "\n"
                                              << model::to_yaml(application);
  }
}

TEST_P(Conformance, NoSimulatedResponseIsAboveItsBound) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const model::Application application = random_application(seed);
    const auto bounds = analysis::chain_bounds(application, choice.kind);
    const auto result =
        simulate(analysis::simulated_system(application, choice), {.horizon_ns = 4 * kPeriod_ns});
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      ASSERT_TRUE(bounds[i].bound) << "seed " << seed << ": " << bounds[i].note;
      ASSERT_LE(result.chains[i].response.worst_ns, *bounds[i].bound) << "seed " << seed;
    }
  }
}

/// Returns an executor of the kind with two callbacks, of priorities 1 and 2.
std::unique_ptr<executor::Executor> with_two_levels(const model::ExecutorChoice& choice,
                                                    executor::ExecutorOptions options) {
  class Idle final : public executor::Callback {
   public:
    using Callback::Callback;

   protected:
    executor::Outcome run(executor::InstanceInfo& /*info*/) override {
      return executor::Outcome::kRan;
    }
  };
  options.name = "conformance";
  auto made =
      executor::make_executor(traits(choice).name, std::move(options), recorder::to_engine(choice),
                              [] { return std::make_unique<Messages>(); });
  for (const int level : {1, 2}) {
    made->add(std::make_shared<Idle>(
        executor::CallbackOptions{.name = "c" + std::to_string(level), .level = level}));
  }
  made->prepare();
  return made;
}

TEST_P(Conformance, TheEngineHasTheTraitsOfTheRegistry) {
  const model::ExecutorTraits& kind = traits(choice);
  if (const auto reason = realtime::why_no_realtime(model::kTopPriority)) {
    GTEST_SKIP() << "threads have no priorities: " << *reason;
  }
  const auto made = with_two_levels(choice, {});
  EXPECT_EQ(made->runs_to_completion(), kind.one_at_a_time);
  const auto callbacks = made->callbacks();
  EXPECT_EQ(made->kernel_priority(*callbacks[0]) < made->kernel_priority(*callbacks[1]),
            kind.has_levels);
  if (kind.has_worker_count) {
    EXPECT_NO_THROW(with_two_levels(choice, {.workers_per_level = 2}));
  }
  if (const std::vector<int> cpus = realtime::allowed_cpus(); cpus.size() > 1) {
    const auto on_two_cpus = [&] { with_two_levels(choice, {.cpus = {cpus[0], cpus[1]}}); };
    if (kind.by_deadline) {
      EXPECT_THAT(on_two_cpus, testing::ThrowsMessage<std::invalid_argument>(
                                   testing::HasSubstr("runs on one CPU, not on 2")));
    } else {
      EXPECT_NO_THROW(on_two_cpus());
    }
  }
}

TEST(Registry, TheEngineHasTheKindsOfTheRegistry) {
  std::vector<std::string_view> expected;
  for (const model::ExecutorTraits& kind : model::executor_kinds()) {
    if (!kind.simulated_only) {
      expected.push_back(kind.name);
    }
  }
  const auto names = executor::executor_names();
  EXPECT_EQ(std::vector<std::string_view>(names.begin(), names.end()), expected);
}

}  // namespace
}  // namespace rclrt::simulator
