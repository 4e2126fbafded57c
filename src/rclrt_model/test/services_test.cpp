// SPDX-License-Identifier: Apache-2.0
/// Services, clients and calls as topics of the graph.
#include "rclrt/model/services.hpp"

#include <gtest/gtest.h>

#include "rclrt/model/node_timing.hpp"
#include "rclrt/model/parse.hpp"
#include "rclrt/model/write.hpp"

namespace rclrt::model {
namespace {

using Lists = std::vector<std::vector<std::size_t>>;

constexpr const char* kTwoCallers = R"(rclrt: 1
name: two_callers
nodes: [{name: a}, {name: b, namespace: /far}, {name: c}]
callbacks:
  - {id: ask_a, node: a, timer: {period_ms: 50}, wcet_ms: 1, publishes: [asked], calls: [answer_a]}
  - {id: ask_c, node: c, timer: {period_ms: 20}, wcet_ms: 1, calls: [answer_c]}
  - {id: plan, node: b, service: {name: /plan, depth: 4}, wcet_ms: 2, publishes: [/log], calls: [more]}
  - {id: answer_a, node: a, client: {service: /plan}, wcet_ms: 1, publishes: [way]}
  - {id: answer_c, node: c, client: {service: /plan, depth: 2}, wcet_ms: 1}
  - {id: detail, node: c, service: {name: /detail}, wcet_ms: 1}
  - {id: more, node: b, client: {service: /detail}, wcet_ms: 1}
  - {id: drive, node: a, subscription: {topic: way}, wcet_ms: 1}
chains:
  - {id: x, callbacks: [ask_a, plan, answer_a, drive], priority: 2}
  - {id: y, callbacks: [ask_c, plan, answer_c], priority: 1}
  - {id: z, callbacks: [ask_c, plan, detail, more], priority: 1}
)";

Application parsed(const std::string& text) {
  const ParseResult result = parse_application(text);
  EXPECT_TRUE(result.application) << to_string(result.diagnostics.front(), "test");
  return result.application.value_or(Application{});
}

TEST(Services, AServiceTakesTheRequestsOfEachClientAndAnswersOnItsTopicOnly) {
  const Application app = parsed(kTwoCallers);
  EXPECT_EQ(app.callbacks[0].publishes, (std::vector<std::string>{"asked", "answer_a__request"}));
  EXPECT_EQ(inputs(app.callbacks[2]),
            (std::vector<std::string>{"answer_a__request", "answer_c__request"}));
  EXPECT_EQ(app.callbacks[2].publishes,
            (std::vector<std::string>{"/log", "more__request", "answer_a__response",
                                      "answer_c__response"}));
  EXPECT_EQ(app.callbacks[2].routes, (Lists{{0, 1, 2}, {0, 1, 3}}));
  EXPECT_EQ(inputs(app.callbacks[3]), (std::vector<std::string>{"answer_a__response"}));
  EXPECT_TRUE(app.callbacks[5].routes.empty()) << "one client leaves nothing to choose";
  EXPECT_EQ(std::get<Subscription>(app.callbacks[2].trigger).depth, 4U);
}

TEST(Services, ChainsThatShareAServerKeepApart) {
  const Application app = parsed(kTwoCallers);
  EXPECT_EQ(app.entries(app.chains[0]), (Lists{{}, {0}, {0}, {0}}));
  EXPECT_EQ(app.entries(app.chains[1]), (Lists{{}, {1}, {0}}));
  // 20 + 50 requests per second; each client has its own responses.
  const std::vector<double> expected{20, 50, 70, 20, 50, 70, 70, 20};
  const auto rates = app.rates();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_DOUBLE_EQ(rates[i], expected[i]) << app.callbacks[i].id;
  }
}

TEST(Services, CallersAndServersAreFoundAgain) {
  const Application app = parsed(kTwoCallers);
  EXPECT_EQ(calls(app.callbacks[0]), std::vector<std::string>{"answer_a"});
  EXPECT_EQ(calls(app.callbacks[2]), std::vector<std::string>{"more"});
  EXPECT_TRUE(calls(app.callbacks[3]).empty());
  EXPECT_EQ(server_of(app, app.callbacks[4]), 2U);
  EXPECT_EQ(server_of(app, app.callbacks[6]), 5U);
  EXPECT_EQ(server_of(app, app.callbacks[0]), app.callbacks.size());
  EXPECT_STREQ(trigger_name(app.callbacks[2]), "service");
  EXPECT_STREQ(trigger_name(app.callbacks[3]), "client");
  EXPECT_STREQ(trigger_name(app.callbacks[7]), "subscription");
}

TEST(Services, WrittenAndReadAgainAreTheSame) {
  const Application app = parsed(kTwoCallers);
  EXPECT_EQ(parsed(to_yaml(app)), app) << to_yaml(app);
}

TEST(Services, ACallBesideRoutesIsMadeForEachTopic) {
  const Application app = parsed(R"(rclrt: 1
name: routes
nodes: [{name: a}]
callbacks:
  - {id: t, node: a, timer: {period_ms: 50}, wcet_ms: 1, publishes: [x, y]}
  - {id: m, node: a, subscription: {topics: [x, y]}, wcet_ms: 1, publishes: {x: [p]}, calls: [c]}
  - {id: s, node: a, service: {name: s}, wcet_ms: 1}
  - {id: c, node: a, client: {service: s}, wcet_ms: 1}
chains: [{id: x, callbacks: [t, m, s, c], priority: 2}]
)");
  EXPECT_EQ(app.callbacks[1].routes, (Lists{{0, 1}, {1}}));
  EXPECT_EQ(parsed(to_yaml(app)), app) << to_yaml(app);
}

TEST(Services, StandInTheRosGraphUnderTheirNames) {
  const auto places = places_of(parsed(kTwoCallers));
  ASSERT_EQ(places[2].size(), 1U);
  EXPECT_EQ(places[2].front().kind, "service");
  EXPECT_EQ(places[2].front().name, "/plan");
  EXPECT_EQ(places[6].front().kind, "client");
  EXPECT_EQ(places[6].front().name, "/detail");
}

/// Returns an application with one service that has this many clients and publishes on as many
/// topics.
std::string with_clients(std::size_t clients, std::size_t topics) {
  std::string text =
      "rclrt: 1\nname: many\nnodes: [{name: n}]\ncallbacks:\n"
      "  - {id: s, node: n, service: {name: s}, wcet_ms: 0, publishes: [t0";
  for (std::size_t i = 1; i < topics; ++i) {
    text += ", t" + std::to_string(i);
  }
  text += "]}\n";
  std::string called;
  for (std::size_t i = 0; i < clients; ++i) {
    const std::string id = "c" + std::to_string(i);
    called += (i == 0 ? "" : ", ") + id;
    text.append("  - {id: ").append(id).append(", node: n, client: {service: s}, wcet_ms: 0}\n");
  }
  return text + "  - {id: t, node: n, timer: {period_ms: 50}, wcet_ms: 0, calls: [" + called +
         "]}\nchains: [{id: x, callbacks: [t, s, c0], priority: 1}]\n";
}

TEST(Services, AHostileNumberOfClientsOrTopicsIsRefused) {
  EXPECT_TRUE(parse_application(with_clients(100, 1000)).application);
  const auto clients = parse_application(with_clients(101, 1)).diagnostics;
  ASSERT_EQ(clients.size(), 1U);
  EXPECT_EQ(clients.front().message, "service 's' has 101 clients; expected at most 100");
  const auto topics = parse_application(with_clients(2, 1001)).diagnostics;
  ASSERT_EQ(topics.size(), 1U);
  EXPECT_EQ(topics.front().message,
            "service 's' publishes on 1001 topics, requests to other services included; expected "
            "at most 1000 for a service with several clients");
}

}  // namespace
}  // namespace rclrt::model
