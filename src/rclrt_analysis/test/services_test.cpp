// SPDX-License-Identifier: Apache-2.0
/// Bounds and simulations of services. A server has one queue for all of its clients.
#include <gtest/gtest.h>

#include <random>
#include <rclrt/model/parse.hpp>
#include <string>

#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

constexpr std::int64_t kMs = 1'000'000;

model::Application parsed(const std::string& text) {
  const auto result = model::parse_application(text);
  EXPECT_TRUE(result.application) << text << to_string(result.diagnostics.front(), "test");
  return result.application.value_or(model::Application{});
}

SimulationResult simulated(const model::Application& application, ExecutorKind kind) {
  return simulate(simulated_system(application, kind), {.horizon_ns = 400 * kMs});
}

constexpr const char* kThreeCallers = R"(rclrt: 1
name: three_callers
nodes: [{name: n}]
callbacks:
  - {id: a, node: n, timer: {period_ms: 40, offset_ms: 0}, wcet_ms: 1, calls: [answer_a]}
  - {id: b, node: n, timer: {period_ms: 40, offset_ms: 0}, wcet_ms: 1, calls: [answer_b]}
  - {id: c, node: n, timer: {period_ms: 40, offset_ms: 0}, wcet_ms: 1, calls: [answer_c]}
  - {id: plan, node: n, service: {name: plan}, wcet_ms: 2}
  - {id: answer_a, node: n, client: {service: plan}, wcet_ms: 1}
  - {id: answer_b, node: n, client: {service: plan}, wcet_ms: 1}
  - {id: answer_c, node: n, client: {service: plan}, wcet_ms: 1}
chains:
  - {id: a, callbacks: [a, plan, answer_a], priority: 3}
  - {id: b, callbacks: [b, plan, answer_b], priority: 2}
  - {id: c, callbacks: [c, plan, answer_c], priority: 1}
)";

// a, b and c run until 3, and plan for a until 5. Then sets of plan and the previous answer follow:
// plan for b until 7, answer_a until 8; plan for c until 10, answer_b until 11; answer_c until 12.
TEST(SimulatedServices, AWaitSetTakesOneRequestAtEachPollingPoint) {
  const auto result = simulated(parsed(kThreeCallers), ExecutorKind::kWaitSet);
  EXPECT_EQ(result.chains[0].response.worst_ns, 8 * kMs);
  EXPECT_EQ(result.chains[1].response.worst_ns, 11 * kMs);
  EXPECT_EQ(result.chains[2].response.worst_ns, 12 * kMs);
  EXPECT_EQ(result.callbacks[3].counts.completed, 30U);
  EXPECT_EQ(result.callbacks[4].counts.completed, 10U) << "its own responses only";
}

// a (priority 3) until 1, plan for a until 3, answer_a until 4; and so on.
TEST(SimulatedServices, UnderPrioritiesEachCallIsAnsweredBeforeTheNextLessUrgentOneIsMade) {
  const auto result = simulated(parsed(kThreeCallers), ExecutorKind::kPreemptive);
  EXPECT_EQ(result.chains[0].response.worst_ns, 4 * kMs);
  EXPECT_EQ(result.chains[1].response.worst_ns, 8 * kMs);
  EXPECT_EQ(result.chains[2].response.worst_ns, 12 * kMs);
}

// t runs until 1. Then the set of both runs: heard first, although its node is the last one.
TEST(SimulatedServices, AWaitSetHasSubscriptionsBeforeServicesAndServicesBeforeClients) {
  const auto application = parsed(R"(rclrt: 1
name: order
nodes: [{name: a}, {name: b}, {name: c}]
callbacks:
  - {id: t, node: a, timer: {period_ms: 40, offset_ms: 0}, wcet_ms: 1, publishes: [x], calls: [p, q]}
  - {id: p, node: a, client: {service: fast}, wcet_ms: 1}
  - {id: q, node: a, client: {service: slow}, wcet_ms: 1}
  - {id: fast, node: b, service: {name: fast}, wcet_ms: 2}
  - {id: heard, node: c, subscription: {topic: x}, wcet_ms: 4, publishes: [y]}
  - {id: slow, node: b, service: {name: slow}, wcet_ms: 3, publishes: [z]}
  - {id: last, node: c, subscription: {topic: z}, wcet_ms: 5}
chains:
  - {id: heard, callbacks: [t, heard], priority: 1}
  - {id: fast, callbacks: [t, fast, p], priority: 1}
  - {id: last, callbacks: [t, slow, last], priority: 1}
)");
  const auto result = simulated(application, ExecutorKind::kWaitSet);
  EXPECT_EQ(result.chains[0].response.worst_ns, 5 * kMs);   // 1 + 4
  EXPECT_EQ(result.chains[2].response.worst_ns, 15 * kMs);  // then fast 2, slow 3; last 5
  EXPECT_EQ(result.chains[1].response.worst_ns, 16 * kMs);  // and p after it
}

/// Returns a server with up to five callers of different periods, and other work beside them.
model::Application random_application(std::mt19937& random) {
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const int callers = draw(2, 5);
  std::string text =
      "rclrt: 1\nname: random\nexecutors: [{name: main, cpus: [0]}]\n"
      "nodes: [{name: n}]\ncallbacks:\n";
  std::string chains = "chains:\n";
  text += "  - {id: plan, node: n, wcet_ms: " + std::to_string(draw(1, 3)) +
          ", service: {name: plan}}\n";
  for (int i = 0; i < callers; ++i) {
    const std::string n = std::to_string(i);
    text += "  - {id: ask" + n + ", node: n, wcet_ms: " + std::to_string(draw(0, 2)) +
            ", timer: {period_ms: " + std::to_string(draw(10, 40)) + "}, calls: [answer" + n +
            "]}\n";
    text += "  - {id: answer" + n + ", node: n, wcet_ms: " + std::to_string(draw(0, 3)) +
            ", client: {service: plan}, publishes: [way" + n + "]}\n";
    text += "  - {id: go" + n + ", node: n, wcet_ms: " + std::to_string(draw(0, 2)) +
            ", subscription: {topic: way" + n + "}}\n";
    chains += "  - {id: x" + n + ", callbacks: [ask" + n + ", plan, answer" + n + ", go" + n +
              "], priority: " + std::to_string(draw(0, 3)) + ", deadline_ms: 1000}\n";
  }
  return parsed(text + chains);
}

class BoundsOfServices : public testing::TestWithParam<ExecutorKind> {};

TEST_P(BoundsOfServices, AreNeverExceededBySimulations) {
  std::mt19937 random(20);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same ones each time
  std::size_t attacked = 0;
  for (int number = 0; number < 300; ++number) {
    model::Application application = random_application(random);
    const auto bounds = chain_bounds(application, GetParam());
    for (int phasing = 0; phasing < 4; ++phasing) {
      for (auto& callback : application.callbacks) {
        if (auto* const timer = std::get_if<model::Timer>(&callback.trigger)) {
          const auto last = timer->period.count() / kMs - 1;
          timer->offset = std::chrono::milliseconds(
              phasing == 0 ? 0 : std::uniform_int_distribution<std::int64_t>(0, last)(random));
        }
      }
      const auto result =
          simulate(simulated_system(application, GetParam()), {.horizon_ns = 2000 * kMs});
      for (std::size_t i = 0; i < bounds.size(); ++i) {
        if (bounds[i].bound && bounds[i].assumptions.empty()) {
          ++attacked;
          ASSERT_LE(result.chains[i].response.worst_ns, *bounds[i].bound)
              << "application " << number << ", chain " << i;
        }
      }
    }
  }
  EXPECT_GT(attacked, 500U);
}

INSTANTIATE_TEST_SUITE_P(Executors, BoundsOfServices,
                         testing::Values(ExecutorKind::kPreemptive, ExecutorKind::kProducerConsumer,
                                         ExecutorKind::kThreadDispatch, ExecutorKind::kWaitSet,
                                         ExecutorKind::kEdf),
                         [](const auto& kind) { return std::string(traits(kind.param).name); });

}  // namespace
}  // namespace rclrt::analysis
