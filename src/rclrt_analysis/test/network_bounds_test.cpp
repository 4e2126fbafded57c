// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "application_builder.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/link_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "rclrt/model/parse.hpp"

namespace rclrt::analysis {
namespace {

using testing::HasSubstr;

/// Two hosts, and a scan of 10 000 bytes on its way from one to the other: 10 004 bytes of payload
/// in 8 packets with 150 bytes more each, which take 8 us for a byte at 1 Mbit/s: 89.632 ms.
std::string two_hosts(const std::string& link, const std::string& more = "") {
  return R"(rclrt: 1
name: two
hosts: [{name: eye, clock_error_ms: 0.5}, {name: hand, clock_error_ms: 0.25}]
links: [{name: cable, between: [eye, hand], )" +
         link + R"(}]
executors: [{name: see, host: eye, cpus: [0]}, {name: move, host: hand, cpus: [0]}]
nodes: [{name: scanner, executor: see}, {name: planner, executor: move}]
callbacks:
  - {id: scan, node: scanner, timer: {period_ms: 100}, wcet_ms: 2, publishes: [points]}
  - {id: plan, node: planner, subscription: {topic: points}, wcet_ms: 3}
  - {id: look, node: planner, timer: {period_ms: 20}, wcet_ms: 4}
)" + more +
         R"(topics: [{name: points, size_bytes: 10000}]
chains:
  - {id: obstacle, callbacks: [scan, plan], priority: 1, deadline_ms: 400}
  - {id: own, callbacks: [look], priority: 2}
threads: [{name: middleware, policy: fifo, priority: 96}]
)";
}

model::Application parsed(const std::string& text) {
  model::ParseResult read = model::parse_application(text);
  EXPECT_TRUE(read.application) << to_string(read.diagnostics.front(), "test") << "\n" << text;
  return read.application.value_or(model::Application{});
}

TEST(NetworkBounds, AChainOverALinkIsTheSumOfItsParts) {
  const Judgement found =
      judge(parsed(two_hosts("rate_kbit: 1000, latency_ms: 1.5")), ExecutorKind::kPreemptive, {});
  ASSERT_EQ(found.links.size(), 1U);
  EXPECT_EQ(found.links[0].delay, ms(89.632 + 1.5).count());
  // The next message comes up to 2 ms early, and 100 ppm of its period: 97.9898 ms after the first
  // one. By then 12 248.725 bytes less a packet of 1538 have left of 22 408.
  EXPECT_NEAR(static_cast<double>(found.links[0].backlog_bytes.value_or(0)),
              22'408 - (12'248.7 - 1538), 2);
  EXPECT_NEAR(found.links[0].load, 0.89632, 1e-3);
  ASSERT_TRUE(found.chains[0].bound) << found.chains[0].note;
  // scan alone takes 2 ms; plan 3 ms, and one release of look before it.
  EXPECT_EQ(*found.chains[0].bound, ms(2 + 89.632 + 1.5 + 3 + 4).count());
  EXPECT_EQ(found.chains[0].verdict, Verdict::kProved);
  EXPECT_EQ(found.chains[1].bound, ms(4).count());
  EXPECT_TRUE(found.feasible);
  EXPECT_EQ(found.chains[0].stamp_error, ms(0.75).count());
  EXPECT_EQ(found.chains[1].stamp_error, std::nullopt);
  EXPECT_EQ(found.chains[0].reaction, *found.chains[0].bound + ms(100).count());
}

TEST(NetworkBounds, TheTermsOfAChainNameTheLink) {
  const auto bounds = chain_bounds(parsed(two_hosts("rate_kbit: 1000")));
  ASSERT_FALSE(bounds[0].why.empty());
  EXPECT_EQ(bounds[0].why[0].kind, Contribution::Kind::kLink);
  EXPECT_EQ(bounds[0].why[0].callback, 1U);
  Ticks total = 0;
  for (const Contribution& each : bounds[0].why) {
    total += each.total;
  }
  EXPECT_EQ(total - bounds[0].waited, *bounds[0].bound);
}

TEST(NetworkBounds, CpusWithEqualNumbersOnTwoHostsDoNotInterfere) {
  model::Application application = parsed(two_hosts("rate_kbit: 100000"));
  application.callbacks[2].wcet = ms(19);
  const auto bounds = chain_bounds(application);
  EXPECT_EQ(bounds[1].bound, ms(19).count());
  application.callbacks[0].wcet = ms(90);  // together they need more than one CPU
  EXPECT_EQ(chain_bounds(application)[1].bound, ms(19).count());
}

// scan waits: nothing is known of its messages. plan waits: nothing is known of its executor, but
// the link has its bound. look waits on an executor of its own, which exchanges no messages.
TEST(NetworkBounds, CallbacksThatWaitHaveNoBoundIfTheirExecutorsExchangeMessages) {
  const auto with_wait = [](std::size_t callback) {
    model::Application application = parsed(two_hosts("rate_kbit: 1000"));
    application.callbacks[callback].waits = ms(1);
    return application;
  };
  const auto reason = HasSubstr("waits (waits_ms), and no bound is proved for callbacks that wait");
  const Judgement sends = judge(with_wait(0), ExecutorKind::kPreemptive, {});
  EXPECT_FALSE(sends.chains[0].bound);
  EXPECT_THAT(sends.chains[0].note, testing::AllOf(HasSubstr("'scan'"), reason));
  EXPECT_FALSE(sends.links[0].delay);
  EXPECT_THAT(sends.chains[1].note, testing::AllOf(HasSubstr("'hand' has no bounds"), reason));
  const model::Application receiver = with_wait(1);
  const Judgement receives = judge(receiver, ExecutorKind::kPreemptive, {});
  EXPECT_FALSE(receives.chains[0].bound);
  EXPECT_THAT(receives.chains[0].note, testing::AllOf(HasSubstr("'plan'"), reason));
  EXPECT_FALSE(receives.chains[1].bound);
  EXPECT_EQ(receives.links[0].delay, ms(89.632).count());
  EXPECT_FALSE(queue_bounds(receiver, ExecutorKind::kPreemptive)[1].pending);
  model::Application apart = with_wait(2);
  apart.executors.push_back({.name = "own", .cpus = {1}, .host = 1});
  apart.callbacks[2].executor = 2;
  const auto bounds = chain_bounds(apart);
  EXPECT_EQ(bounds[0].bound, ms(2 + 89.632 + 3).count());
  EXPECT_EQ(bounds[1].bound, ms(5).count());
}

TEST(NetworkBounds, ASaturatedLinkHasAnUnboundedBacklog) {
  const Judgement found = judge(parsed(two_hosts("rate_kbit: 800")), ExecutorKind::kPreemptive, {});
  EXPECT_FALSE(found.feasible);
  ASSERT_EQ(found.links.size(), 1U);
  EXPECT_FALSE(found.links[0].delay);
  EXPECT_FALSE(found.links[0].backlog_bytes);
  EXPECT_EQ(
      found.links[0].note,
      "link 'cable' from 'eye' to 'hand' has an unbounded backlog: its traffic needs 113 % of "
      "its rate ('points' 112 %); a rate_kbit of at least 944, smaller messages, or longer "
      "periods would help");
  EXPECT_EQ(found.chains[0].note, found.links[0].note);
  EXPECT_EQ(found.chains[0].verdict, Verdict::kUnknown);
  // Small messages may arrive at any time, so that the host that receives them has no bounds.
  EXPECT_THAT(found.chains[1].note, HasSubstr("host 'hand' has no bounds: link 'cable'"));
}

TEST(NetworkBounds, AnUnusedSaturatedLinkIsNoAnswerYesEither) {
  model::Application application = parsed(two_hosts("rate_kbit: 800"));
  application.chains.erase(application.chains.begin());
  EXPECT_FALSE(judge(application, ExecutorKind::kPreemptive, {}).feasible);
}

TEST(NetworkBounds, AMessageWithoutSizeOrLinkHasNoBound) {
  model::Application application = parsed(two_hosts("rate_kbit: 1000"));
  application.topics[0].size_bytes = 0;
  EXPECT_THAT(chain_bounds(application)[0].note,
              HasSubstr("the size of topic 'points' is not stated; add topics: [{name: points, "
                        "size_bytes: ...}]"));
  application.links.clear();
  const auto bounds = chain_bounds(application);
  EXPECT_THAT(bounds[0].note, HasSubstr("and no link joins them; add links: [{name: cable, "
                                        "between: [eye, hand], rate_kbit: ...}]"));
  EXPECT_FALSE(bounds[1].bound);
}

TEST(NetworkBounds, OverheadsCountTheMessageBetweenExecutors) {
  const Overheads overheads{.far = {.min = ms(0.1).count(), .max = ms(0.3).count()}};
  const auto with =
      chain_bounds(parsed(two_hosts("rate_kbit: 1000")), ExecutorKind::kPreemptive, overheads);
  const auto without = chain_bounds(parsed(two_hosts("rate_kbit: 1000")));
  EXPECT_EQ(*with[0].bound, *without[0].bound + ms(0.3).count());
}

TEST(NetworkBounds, AMiddlewareThreadThatMayWaitIsACondition) {
  model::Application application = parsed(two_hosts("rate_kbit: 1000"));
  application.threads.clear();
  const auto bounds = chain_bounds(application);
  EXPECT_EQ(bounds[0].verdict, Verdict::kConditional);
  EXPECT_EQ(bounds[1].verdict, Verdict::kProved);
}

// The publisher's WCET was observed: what arrives at the other host rests on that, too.
TEST(NetworkBounds, ConditionsOfAPublisherAreThoseOfTheReceiversHost) {
  model::Application application = parsed(two_hosts("rate_kbit: 1000"));
  application.callbacks[0].observed = model::ObservedTimes{.n = 5, .max = ms(2)};
  const auto bounds = chain_bounds(application);
  ASSERT_EQ(bounds[1].assumptions.size(), 1U);
  EXPECT_THAT(bounds[1].assumptions[0], HasSubstr("are the longest observed, of 5 runs"));
  EXPECT_EQ(bounds[0].verdict, Verdict::kConditional);
}

// A sync on the receiving host matches by stamps, which are older than the arrival: here the chain
// waits for a message that is stamped late enough, 95 ms after it was sent.
TEST(NetworkBounds, ASyncWithAMessageOfAnotherHostHasNoBound) {
  const std::string text = R"(rclrt: 1
name: sync
hosts: [{name: a}, {name: b}]
links: [{name: cable, between: [a, b], rate_kbit: 100000, latency_ms: 95, min_latency_ms: 95}]
executors: [{name: ea, host: a, cpus: [0]}, {name: eb, host: b, cpus: [0]}]
nodes: [{name: na, executor: ea}, {name: nb, executor: eb}]
callbacks:
  - {id: s, node: na, timer: {period_ms: 10}, wcet_ms: 1, publishes: [x]}
  - {id: t, node: nb, timer: {period_ms: 1000}, wcet_ms: 1, publishes: [y]}
  - {id: fuse, node: nb, sync: {topics: [x, y], window_ms: 20}, wcet_ms: 1, publishes: [back]}
  - {id: end, node: na, subscription: {topic: back}, wcet_ms: 1}
topics: [{name: x, size_bytes: 100}, {name: back, size_bytes: 100}]
chains:
  - {id: fused, callbacks: [t, fuse], priority: 1, deadline_ms: 500}
  - {id: whole, callbacks: [t, fuse, end], priority: 1, deadline_ms: 500}
threads: [{name: middleware, policy: fifo, priority: 96}]
)";
  const Judgement found = judge(parsed(text), ExecutorKind::kPreemptive, {});
  EXPECT_THAT(found.chains[0].note,
              HasSubstr("sync 'fuse' matches messages of another host by their stamps, which no "
                        "bound covers yet"));
  EXPECT_FALSE(found.chains[1].bound);  // what the sync publishes has none either
  EXPECT_FALSE(found.feasible);
}

// A message with less data, or on a faster line, arrives sooner: messages may come close together.
TEST(NetworkBounds, AMessageMayBeSmallerThanItsSize) {
  const model::Application application = parsed(R"(rclrt: 1
name: vary
hosts: [{name: a}, {name: b}]
links: [{name: cable, between: [a, b], rate_kbit: 1000}]
executors: [{name: ea, host: a, cpus: [0]}, {name: eb, host: b, cpus: [0]}]
nodes: [{name: na, executor: ea}, {name: nb, executor: eb}]
callbacks:
  - {id: s, node: na, timer: {period_ms: 100}, wcet_ms: 1, publishes: [x]}
  - {id: w, node: nb, subscription: {topic: x}, wcet_ms: 40, priority: 2}
  - {id: low, node: nb, timer: {period_ms: 200}, wcet_ms: 30, priority: 1}
topics: [{name: x, size_bytes: 10000}]
chains: [{id: low, callbacks: [low], deadline_ms: 100}]
threads: [{name: middleware, policy: fifo, priority: 96}]
)");
  const auto bounds = chain_bounds(application);
  ASSERT_TRUE(bounds[0].bound) << bounds[0].note;
  EXPECT_GE(*bounds[0].bound, ms(110).count());
  EXPECT_NE(bounds[0].verdict, Verdict::kProved);
}

TEST(NetworkBounds, AServiceOverALinkHasNoBound) {
  const model::Application application = parsed(R"(rclrt: 1
name: service
hosts: [{name: a}, {name: b}]
links: [{name: cable, between: [a, b], rate_kbit: 1000}]
executors: [{name: ea, host: a, cpus: [0]}, {name: eb, host: b, cpus: [0]}]
nodes: [{name: na, executor: ea}, {name: nb, executor: eb}]
callbacks:
  - {id: ask, node: na, timer: {period_ms: 100}, wcet_ms: 1, calls: [answer]}
  - {id: answer, node: na, client: {service: map}, wcet_ms: 1}
  - {id: serve, node: nb, service: {name: map}, wcet_ms: 1}
chains: [{id: c, callbacks: [ask, serve, answer]}]
threads: [{name: middleware, policy: fifo, priority: 96}]
)");
  EXPECT_THAT(chain_bounds(application)[0].note,
              HasSubstr("services between hosts have none, because the size of their messages"));
}

// Messages go to the other host and back, so each direction's delay is part of the other's jitter.
TEST(NetworkBounds, JitterGoesRoundUntilNothingChanges) {
  model::Application application = parsed(R"(rclrt: 1
name: round
hosts: [{name: a}, {name: b}]
links: [{name: cable, between: [a, b], rate_kbit: 1000}]
executors: [{name: ea, host: a, cpus: [0]}, {name: eb, host: b, cpus: [0]}]
nodes: [{name: na, executor: ea}, {name: nb, executor: eb}]
callbacks:
  - {id: t, node: na, timer: {period_ms: 50}, wcet_ms: 2, publishes: [x]}
  - {id: u, node: nb, timer: {period_ms: 60}, wcet_ms: 3, publishes: [y]}
  - {id: at_b, node: nb, subscription: {topic: x}, wcet_ms: 1, publishes: [x_back]}
  - {id: at_a, node: na, subscription: {topic: y}, wcet_ms: 1, publishes: [y_back]}
  - {id: end_a, node: na, subscription: {topic: x_back}, wcet_ms: 1}
  - {id: end_b, node: nb, subscription: {topic: y_back}, wcet_ms: 1}
topics: [{name: x, size_bytes: 800}, {name: y, size_bytes: 800}, {name: x_back, size_bytes: 900},
         {name: y_back, size_bytes: 900}]
chains:
  - {id: one, callbacks: [t, at_b, end_a], priority: 1, deadline_ms: 200}
  - {id: other, callbacks: [u, at_a, end_b], priority: 2, deadline_ms: 200}
threads: [{name: middleware, policy: fifo, priority: 96}]
)");
  const Judgement found = judge(application, ExecutorKind::kPreemptive, {});
  ASSERT_TRUE(found.chains[0].bound) << found.chains[0].note;
  ASSERT_TRUE(found.chains[1].bound) << found.chains[1].note;
  const auto result = simulate(simulated_system(application, ExecutorKind::kPreemptive),
                               {.horizon_ns = 3'000'000'000});
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GT(result.chains[i].response.count, 0U);
    EXPECT_LE(result.chains[i].response.worst_ns, *found.chains[i].bound);
    EXPECT_LT(*found.chains[i].bound, 3 * result.chains[i].response.worst_ns);
  }
}

// The rarest input of the sync is that of the slow timer, but by its route only `other` continues.
// The flow of `joined` is then that of the other input.
TEST(NetworkBounds, AFlowBehindASyncFollowsTheRoutes) {
  const model::Application application = parsed(R"(rclrt: 1
name: routes
hosts: [{name: eye}, {name: hand}]
links: [{name: cable, between: [eye, hand], rate_kbit: 1000}]
executors: [{name: see, host: eye, cpus: [0]}, {name: move, host: hand, cpus: [0]}]
nodes: [{name: a, executor: see}, {name: b, executor: move}]
callbacks:
  - {id: fast, node: a, timer: {period_ms: 50}, wcet_ms: 1, publishes: [x]}
  - {id: slow, node: a, timer: {period_ms: 100}, wcet_ms: 1, publishes: [y]}
  - {id: fuse, node: a, sync: {topics: [x, y], window_ms: 200}, wcet_ms: 1,
     publishes: {x: [joined], y: [other]}}
  - {id: take, node: a, subscription: {topics: [joined, other]}, wcet_ms: 1,
     publishes: {joined: [out], other: [aside]}}
  - {id: end, node: b, subscription: {topic: out}, wcet_ms: 1}
topics: [{name: out, size_bytes: 800}]
chains: [{id: c, callbacks: [fast, fuse, take, end], priority: 1, deadline_ms: 500}]
threads: [{name: middleware, policy: fifo, priority: 96}]
)");
  const Judgement found = judge(application, ExecutorKind::kPreemptive, {});
  ASSERT_EQ(found.links.size(), 1U);
  EXPECT_NEAR(found.links[0].load, 7.632 / 50, 1e-4);
  ASSERT_TRUE(found.chains[0].bound) << found.chains[0].note;
  const auto result = simulate(simulated_system(application, ExecutorKind::kPreemptive),
                               {.horizon_ns = 3'000'000'000});
  EXPECT_LE(result.chains[0].response.worst_ns, *found.chains[0].bound);
}

TEST(NetworkBounds, ANewestMessageTakesTheDelayOfItsLink) {
  const model::Application application = parsed(R"(rclrt: 1
name: sampled
hosts: [{name: eye}, {name: hand}]
links: [{name: cable, between: [eye, hand], rate_kbit: 1000}]
executors: [{name: see, host: eye, cpus: [0]}, {name: move, host: hand, cpus: [0]}]
nodes: [{name: scanner, executor: see}, {name: planner, executor: move}]
callbacks:
  - {id: scan, node: scanner, timer: {period_ms: 100, offset_ms: 0}, wcet_ms: 2, publishes: [points]}
  - {id: steer, node: planner, timer: {period_ms: 50, offset_ms: 0}, wcet_ms: 3, reads: [{topic: points}]}
topics: [{name: points, size_bytes: 800}]
chains: [{id: reacts, callbacks: [scan, steer], max_age_ms: 150}]
threads: [{name: middleware, policy: fifo, priority: 96}]
)");
  const Judgement found = judge(application, ExecutorKind::kPreemptive, {});
  ASSERT_EQ(found.cause_effect_chains.size(), 1U);
  // 954 bytes on the line take 7.632 ms. The offsets are on two clocks, so they are not used.
  EXPECT_EQ(found.cause_effect_chains[0].age, ms(100 + 2 + 7.632 + 3).count());
  EXPECT_EQ(found.cause_effect_chains[0].verdict, Verdict::kProved);
}

}  // namespace
}  // namespace rclrt::analysis
