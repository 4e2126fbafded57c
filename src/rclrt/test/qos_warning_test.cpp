// SPDX-License-Identifier: Apache-2.0
// Endpoints that are not matched because of their QoS cause a warning, as with rclcpp.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <std_msgs/msg/int64.hpp>
#include <std_msgs/msg/string.hpp>
#include <string>

#include "rclrt/qos_event.hpp"
#include "ros_fixture.hpp"
#include "stderr_file.hpp"

namespace rclrt::test {
namespace {

using namespace std::chrono_literals;
using std_msgs::msg::Int64;

struct Mismatch {
  std::string name;
  QoS offered;
  QoS asked;
  std::vector<std::string> words;  // of the warning
  bool intra_process = false;
};

std::vector<Mismatch> mismatches() {
  return {
      {"reliability",
       QoS(3).best_effort(),
       QoS(3),
       {"reliability: the publisher offers best effort", "make the publisher reliable()"}},
      {"durability",
       QoS(3),
       QoS(3).transient_local(),
       {"durability: the publisher offers volatile", "transient_local()"}},
      {"deadline",
       QoS(3).deadline(250ms),
       QoS(3).deadline(40ms),
       {"deadline: the publisher offers 250 ms, the subscription requests 40 ms"}},
      {"no_deadline", QoS(3), QoS(3).deadline(40ms), {"deadline: the publisher offers no end"}},
      {"liveliness",
       QoS(3),
       QoS(3).liveliness_by_topic(1s),
       {"liveliness: the publisher offers automatic", "liveliness lease: the publisher offers no"}},
      {"lease",
       QoS(3).liveliness_automatic(3s),
       QoS(3).liveliness_automatic(2s),
       {"liveliness lease: the publisher offers 3000 ms, the subscription requests 2000 ms"}},
      {"two_policies",
       QoS(3).best_effort(),
       QoS(3).transient_local(),
       {"reliability: ", "durability: "}},
      {"intra_process", QoS(3).best_effort(), QoS(3), {"reliability: "}, true},
  };
}

bool searches() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name == "rclrt qos") {
      return true;
    }
  }
  return false;
}

class QosWarnings : public ::testing::TestWithParam<Mismatch> {
 protected:
  const StderrFile told;
};

TEST_P(QosWarnings, NameTheTopicBothNodesThePolicyAndTheFixOnce) {
  const Mismatch& mismatch = GetParam();
  const auto context = make_context();
  Node driver(context, "driver", "/left");
  Node filter(context, "filter");
  const auto publisher = driver.create_publisher<Int64>("/points", mismatch.offered);
  const auto subscription = filter.create_subscription<Int64>(
      "/points", mismatch.asked, [](const Int64&) {}, {.intra_process = mismatch.intra_process});
  ASSERT_TRUE(eventually([&] { return told.contains(mismatch.words.back()); })) << told.text();
  for (const std::string& words : mismatch.words) {
    EXPECT_TRUE(told.contains(words)) << told.text();
  }
  EXPECT_TRUE(told.contains("topic \"/points\": incompatible quality of service (QoS)"));
  EXPECT_TRUE(told.contains("publisher of node \"/left/driver\""));
  EXPECT_TRUE(told.contains("subscription of node \"/filter\""));
  if (mismatch.name == "reliability") {
    ASSERT_TRUE(eventually([] { return !searches(); }));  // it takes a second
  }
  EXPECT_EQ(told.count("incompatible"), 1U) << told.text();
}
INSTANTIATE_TEST_SUITE_P(, QosWarnings, ::testing::ValuesIn(mismatches()),
                         [](const auto& each) { return each.param.name; });

class QosWarning : public ::testing::Test {
 protected:
  const StderrFile told;
};

TEST_F(QosWarning, NamesANodeOfAnotherParticipantThatComesLater) {
  const auto here = make_context();
  Node filter(here, "filter");
  const auto subscription = filter.create_subscription<Int64>("scan", 3, [](const Int64&) {});
  const auto there = make_context();
  Node driver(there, "late_driver");
  const auto publisher = driver.create_publisher<Int64>("scan", QoS(3).best_effort());
  EXPECT_TRUE(eventually([&] {
    return told.contains(
        "publisher of node \"/late_driver\" to the subscription of node "
        "\"/filter\"");
  })) << told.text();
}

TEST_F(QosWarning, IsLeftToACallbackOfTheUser) {
  const auto context = make_context();
  Node node(context, "node");
  const auto publisher = node.create_publisher<Int64>("topic", QoS(3).best_effort());
  std::atomic<int> events{0};
  const auto offered = create_qos_event<QosIncompatible>(
      node, publisher, [&](const QosIncompatible& status) { events = status.total_count; });
  PreemptiveExecutor executor(context);
  executor.add_node(node);
  std::thread spinning([&] { executor.spin(); });
  Node other(context, "other");
  {
    const auto subscription = other.create_subscription<Int64>("topic", 3, [](const Int64&) {});
    EXPECT_TRUE(eventually([&] { return events == 1; }));
    // The subscription has no callback for it: the warning comes from its side.
    EXPECT_TRUE(eventually([&] { return told.contains("reliability"); }));
  }
  executor.cancel();
  spinning.join();
}

TEST_F(QosWarning, IsNotGivenForWhatFitsNorForAnotherType) {
  const auto context = make_context();
  Node node(context, "node");
  const auto publisher = node.create_publisher<Int64>("topic", QoS(3).deadline(10ms));
  const auto late = node.create_subscription<Int64>("topic", QoS(3).best_effort().deadline(20ms),
                                                    [](const Int64&) {});
  const auto reliable = node.create_subscription<Int64>("mixed", 3, [](const Int64&) {});
  const auto there = make_context();  // a participant has one type for each topic
  Node other(there, "other");
  const auto best_effort =
      other.create_publisher<std_msgs::msg::String>("mixed", QoS(3).best_effort());
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  ASSERT_TRUE(eventually([&] { return node.count_publishers("mixed") == 1; }));
  EXPECT_EQ(told.text(), "");
}

TEST_F(QosWarning, OfAPairWithinTheProcessIsNotGivenForEndpointsThatFit) {
  const auto context = make_context();
  Node node(context, "node");
  const CallbackOptions intra{.intra_process = true};
  const auto reliable = node.create_subscription<Int64>("topic", 3, [](const Int64&) {}, intra);
  const auto best_effort = node.create_publisher<Int64>("topic", QoS(3).best_effort());
  EXPECT_TRUE(eventually([&] { return told.contains("reliability"); }));
  const auto fits_both =
      node.create_subscription<Int64>("topic", QoS(3).best_effort(), [](const Int64&) {}, intra);
  const auto fits = node.create_publisher<Int64>("topic", 3);
  ASSERT_TRUE(eventually([] { return !searches(); }));
  EXPECT_EQ(told.count("incompatible"), 1U) << told.text();
}

TEST_F(QosWarning, EndsWithItsEndpointAndContext) {
  for (int i = 0; i < 5; ++i) {
    const auto context = make_context();
    Node node(context, "node");
    const auto publisher = node.create_publisher<Int64>("topic", QoS(3).best_effort());
    const auto subscription = node.create_subscription<Int64>("topic", 3, [](const Int64&) {});
  }
  // A thread that was joined may be in /proc for a moment longer.
  EXPECT_TRUE(eventually([] { return !searches(); }));
}

}  // namespace
}  // namespace rclrt::test
