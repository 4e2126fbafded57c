// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/network.hpp"

#include <gtest/gtest.h>

#include <string>

#include "rclrt/model/link_messages.hpp"
#include "rclrt/model/parse.hpp"

namespace rclrt::model {
namespace {

constexpr const char* kTwoHosts = R"(rclrt: 1
name: two
hosts: [{name: eye, cpus: [0, 1]}, {name: hand}]
links: [{name: cable, between: [hand, eye], rate_kbit: 100000}]
executors:
  - {name: see, host: eye, cpus: [1]}
  - {name: sort, host: eye}
  - {name: move, host: hand, cpus: [1], scheduler_cpus: [3]}
nodes: [{name: a, executor: see}, {name: b, executor: sort}, {name: c, executor: move}]
callbacks:
  - {id: scan, node: a, timer: {period_ms: 50}, wcet_ms: 2, publishes: [points, more]}
  - {id: near, node: b, subscription: {topic: points}, wcet_ms: 1}
  - {id: plan, node: c, sync: {topics: [more, points]}, wcet_ms: 3}
  - {id: show, node: c, timer: {period_ms: 50}, wcet_ms: 3, reads: [{topic: points}]}
topics: [{name: points, size_bytes: 20000, network_priority: 4}]
chains: [{id: c, callbacks: [scan, plan], priority: 2}]
)";

Application two_hosts() {
  ParseResult read = parse_application(kTwoHosts);
  EXPECT_TRUE(read.application) << to_string(read.diagnostics.front(), "test");
  return read.application.value_or(Application{});
}

TEST(Network, PacketsCarryThePayloadAndAllHeaders) {
  const NetworkLink link{.mtu_bytes = 1500, .header_bytes = 112, .framing_bytes = 38};
  // 1388 bytes of payload fit into a packet, 4 of them once the CDR header.
  EXPECT_EQ(link.packets(0), (std::vector<std::size_t>{4 + 112 + 38}));
  EXPECT_EQ(link.packets(1384), (std::vector<std::size_t>{1538}));
  EXPECT_EQ(link.packets(1385), (std::vector<std::size_t>{1538, 151}));
  EXPECT_EQ(link.bytes_on_line(20'000), 20'004U + 15 * 150);
  EXPECT_EQ(link.largest_packet(), 1538U);
}

TEST(Network, MessagesBetweenHostsAreThoseOfEachTaker) {
  const std::vector<LinkMessage> found = link_messages(two_hosts());
  const LinkDirection way{.link = 0, .from = 0, .to = 1};
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], (LinkMessage{.from = 0,
                                   .output = 0,
                                   .to = 2,
                                   .input = 1,
                                   .way = way,
                                   .bytes = 20'000,
                                   .priority = 4}));
  EXPECT_EQ(found[1], (LinkMessage{.from = 0,
                                   .output = 0,
                                   .to = 3,
                                   .input = {},
                                   .way = way,
                                   .bytes = 20'000,
                                   .priority = 4}));
  EXPECT_EQ(
      found[2],
      (LinkMessage{
          .from = 0, .output = 1, .to = 2, .input = 0, .way = way, .bytes = {}, .priority = 0}));
}

TEST(Network, WithoutALinkAMessageHasNoWay) {
  Application application = two_hosts();
  application.links.clear();
  for (const LinkMessage& each : link_messages(application)) {
    EXPECT_FALSE(each.way);
  }
}

TEST(Network, CpusOfDifferentHostsAreDifferent) {
  const Application apart = with_distinct_cpus(two_hosts());
  EXPECT_TRUE(apart.hosts.empty());
  EXPECT_EQ(apart.executors[0].cpus, std::vector<int>{1});
  EXPECT_EQ(apart.executors[1].cpus, (std::vector<int>{0, 1}));  // all of its host
  EXPECT_EQ(apart.executors[2].cpus, std::vector<int>{2});
  EXPECT_EQ(apart.executors[2].scheduler_cpus, std::vector<int>{3});
  EXPECT_EQ(apart.processes().size(), 2U);
}

TEST(Network, ProcessesOfTwoHostsDifferAlsoWithEqualNames) {
  Application application = two_hosts();
  EXPECT_EQ(application.processes(), (std::vector<std::vector<std::size_t>>{{0, 1}, {2}}));
  application.executors[0].process = application.executors[2].process = "same";
  EXPECT_EQ(application.processes().size(), 3U);
}

TEST(Network, AnApplicationWithoutHostsHasNoMessagesBetweenThem) {
  Application application = two_hosts();
  application.hosts.clear();
  for (Executor& executor : application.executors) {
    executor.host.reset();
  }
  EXPECT_TRUE(link_messages(application).empty());
  EXPECT_EQ(with_distinct_cpus(application), application);
}

}  // namespace
}  // namespace rclrt::model
