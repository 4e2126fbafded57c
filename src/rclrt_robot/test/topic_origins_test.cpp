// SPDX-License-Identifier: Apache-2.0
// Which publishers are looked up for the origin of a topic's data, and which answers are accepted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <test_msgs/msg/basic_types.hpp>
#include <utility>

#include "origins.hpp"
#include "rclcpp_fixture.hpp"

namespace rclrt_robot::test {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

/// Notes that a scan is requested.
class ScanRequest final : public rclrt_rclcpp::UnknownPublisherListener {
 public:
  void on_unknown_publisher() noexcept override { is_noted_ = true; }
  bool take() noexcept { return std::exchange(is_noted_, false); }

 private:
  bool is_noted_ = false;
};

class TopicOriginsTest : public Ros {
 protected:
  static std::int64_t now_ns() { return rclrt::realtime::monotonic_now_ns(); }
  static std::int64_t realtime_ns() { return rclrt::realtime::read_clock_ns(CLOCK_REALTIME); }

  /// Scans, and returns the origin of a message that is published now.
  Origin published_now(int nodes_of_that_name = 1) {
    scan(nodes_of_that_name);
    return topic_.find(gid_, realtime_ns(), now_ns());
  }
  void scan(int nodes_of_that_name = 1) {
    topic_.scan(segments_, std::map<std::string, int>{{"/robot/node", nodes_of_that_name}},
                now_ns());
  }
  /// Waits until the graph has the publisher, and takes its identifier from there: the messages of
  /// some middlewares have another one.
  bool is_followed() {
    segments_.scan();
    const bool result = eventually([&] {
      scan();
      return writer_.is_wanted(now_ns());
    });
    for (const auto& info : node_->get_publishers_info_by_topic("/plain")) {
      std::copy_n(info.endpoint_gid().begin(), gid_.size(), gid_.begin());
    }
    return result;
  }

  const rclcpp::Node::SharedPtr node_ = std::make_shared<rclcpp::Node>("node", "/robot");
  const rclcpp::Publisher<Message>::SharedPtr publisher_ =
      node_->create_publisher<Message>("/plain", 10);
  TopicOrigins::Gid gid_{};
  const std::size_t domain_ = node_->get_node_base_interface()->get_context()->get_domain_id();
  OriginSegments segments_{domain_};
  SegmentWriter writer_{domain_, "/robot/node"};
  ScanRequest request_;
  TopicOrigins topic_{"/plain", node_->get_node_base_interface(), request_};
};

TEST_F(TopicOriginsTest, AnUnknownPublisherIsAskedForNowAndThenAndNotForEver) {
  std::int64_t now_ns = 5 * kSecond_ns;
  int asked = 0;
  for (int i = 0; i < 1'000; ++i, now_ns += TopicOrigins::kRequestInterval_ns / 10) {
    EXPECT_EQ(topic_.find({}, now_ns, now_ns).since_ns, 0);
    asked += request_.take() ? 1 : 0;
    EXPECT_LE(asked, 1 + i / 10);
  }
  EXPECT_EQ(asked, TopicOrigins::kRequests);
}

TEST_F(TopicOriginsTest, IsUsedForAWhileAfterEachMessage) {
  EXPECT_FALSE(topic_.is_used(kSecond_ns));
  topic_.find({}, 1, kSecond_ns);
  EXPECT_TRUE(topic_.is_used(3600 * kSecond_ns));
  EXPECT_FALSE(topic_.is_used(3602 * kSecond_ns));
}

TEST_F(TopicOriginsTest, FollowsThePublishersInstance) {
  ASSERT_TRUE(is_followed());
  EXPECT_EQ(published_now().since_ns, 0) << "outside of callbacks";
  void* const place = writer_.begin({42, true});
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(published_now().since_ns, 42);
  EXPECT_TRUE(published_now().is_whole);
  writer_.end(place);
  EXPECT_EQ(published_now().since_ns, 0);
  EXPECT_FALSE(writer_.is_wanted(now_ns() + 11 * kSecond_ns));

  void* const second = writer_.begin({43, false});
  EXPECT_EQ(published_now().since_ns, 43);
  EXPECT_FALSE(published_now().is_whole);
  writer_.end(second);
}

TEST_F(TopicOriginsTest, WhatCannotBeIsNotBelieved) {
  ASSERT_TRUE(is_followed());
  for (const std::int64_t since_ns : {INT64_MAX, now_ns() + 3600 * kSecond_ns}) {
    void* const place = writer_.begin({since_ns, true});
    EXPECT_EQ(published_now().since_ns, 0) << since_ns;
    writer_.end(place);
  }
}

/// One of the two nodes may be on another machine.
TEST_F(TopicOriginsTest, OfTwoNodesWithOneNameNothingIsKnown) {
  ASSERT_TRUE(is_followed());
  writer_.begin({42, true});
  EXPECT_EQ(published_now(2).since_ns, 0);
  EXPECT_EQ(published_now(1).since_ns, 42);
}

/// Some middlewares use different identifiers for publishers and for their messages.
TEST_F(TopicOriginsTest, TheOnlyPublisherIsTheOne) {
  ASSERT_TRUE(is_followed());
  writer_.begin({42, true});
  EXPECT_EQ(topic_.find({1, 2, 3}, realtime_ns(), now_ns()).since_ns, 42);
  const auto other = node_->create_publisher<Message>("/plain", 10);
  ASSERT_TRUE(eventually([&] {
    scan();
    return topic_.find({1, 2, 3}, realtime_ns(), now_ns()).since_ns == 0;
  }));
  EXPECT_EQ(topic_.find(gid_, realtime_ns(), now_ns()).since_ns, 42);
}

TEST_F(TopicOriginsTest, WherePublishersAreToldApartANewOneIsNotTakenForAnother) {
  ASSERT_TRUE(is_followed());
  writer_.begin({42, true});
  EXPECT_EQ(published_now().since_ns, 42);
  EXPECT_EQ(topic_.find({1, 2, 3}, realtime_ns(), now_ns()).since_ns, 0);
}

TEST_F(TopicOriginsTest, WhereTheGraphTellsNothingWhatWasKnownStays) {
  ASSERT_TRUE(is_followed());
  writer_.begin({42, true});
  const std::int64_t later_ns = now_ns() + 60 * kSecond_ns;
  EXPECT_FALSE(writer_.is_wanted(later_ns));
  topic_.scan(segments_, std::nullopt, later_ns);
  EXPECT_TRUE(writer_.is_wanted(later_ns));
  EXPECT_EQ(topic_.find(gid_, realtime_ns(), now_ns()).since_ns, 42);
}

}  // namespace
}  // namespace rclrt_robot::test
