// SPDX-License-Identifier: Apache-2.0
// What the middleware states of a message, and the memory in which it lends one. Each test is a row
// of docs/results/middlewares.md; the property "cell" is what the table shows.
#include <rcl/graph.h>
#include <rmw/rmw.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <optional>
#include <std_msgs/msg/string.hpp>

#include "middleware.hpp"
#include "reader.hpp"

namespace rclrt::test {
namespace {

using std_msgs::msg::String;

std::int64_t now_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

/// A clock that was read before and after something.
struct Interval {
  clockid_t clock;
  const char* name;
  std::int64_t from_ns = now_ns(clock);
  std::int64_t until_ns = 0;
};

/// Returns the name of the clock of which the interval contains a stamp.
std::string clock_of(std::int64_t stamp_ns, std::array<Interval, 2> clocks) {
  if (stamp_ns == 0) {
    return "none";
  }
  for (const Interval& each : clocks) {
    if (stamp_ns >= each.from_ns && stamp_ns <= now_ns(each.clock)) {
      return each.name;
    }
  }
  return "of another clock";
}

class Messages : public ::testing::Test {
 protected:
  /// Publishes two messages, the second one being the one that is looked at.
  void SetUp() override {
    ASSERT_TRUE(reader.matched());
    publisher->publish(Int64().set__data(1));
    first = reader.take();
    clocks = {Interval{CLOCK_REALTIME, "CLOCK_REALTIME"},
              Interval{CLOCK_MONOTONIC, "CLOCK_MONOTONIC"}};
    publisher->publish(Int64().set__data(2));
    second = reader.take();
  }

  std::shared_ptr<Context> context = make_context();
  Node node{context, "node"};
  Reader reader{node, "topic"};
  std::shared_ptr<Publisher<Int64>> publisher = node.create_publisher<Int64>("topic", 10);
  std::array<Interval, 2> clocks{};
  TakenMessage first;
  TakenMessage second;
};

/// The monitor of rclrt_robot and traces identify a message by it.
TEST_F(Messages, HaveASourceTimestamp) {
  const std::string found = clock_of(second.info.source_timestamp, clocks);
  EXPECT_EQ(found, "CLOCK_REALTIME");
  RecordProperty("cell", found);
}

TEST_F(Messages, HaveAReceptionTimestamp) {
  RecordProperty("cell", clock_of(second.info.received_timestamp, clocks));
}

TEST_F(Messages, HaveSourceTimestampsThatDiffer) {
  EXPECT_LT(first.info.source_timestamp, second.info.source_timestamp);
  std::int64_t least = second.info.source_timestamp - first.info.source_timestamp;
  std::int64_t before = second.info.source_timestamp;
  for (int i = 0; i < 200; ++i) {
    publisher->publish(Int64{});
    const std::int64_t stamp = reader.take().info.source_timestamp;
    least = std::min(least, stamp - before);
    before = stamp;
  }
  EXPECT_GT(least, 0);
  RecordProperty("cell", "yes, of 202 messages");
}

std::string numbers(std::uint64_t first, std::uint64_t second) {
  constexpr std::uint64_t kNone = RMW_MESSAGE_INFO_SEQUENCE_NUMBER_UNSUPPORTED;
  if (first == kNone && second == kNone) {
    return "no";
  }
  return second == first + 1 ? "yes" : std::to_string(first) + ", " + std::to_string(second);
}

TEST_F(Messages, HaveSequenceNumbersOfThePublisher) {
  const std::string found =
      numbers(first.info.publication_sequence_number, second.info.publication_sequence_number);
  EXPECT_EQ(found == "yes",
            rmw_feature_supported(RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER))
      << found;
  RecordProperty("cell", found);
}

TEST_F(Messages, HaveSequenceNumbersOfTheSubscription) {
  const std::string found =
      numbers(first.info.reception_sequence_number, second.info.reception_sequence_number);
  EXPECT_EQ(found == "yes",
            rmw_feature_supported(RMW_FEATURE_MESSAGE_INFO_RECEPTION_SEQUENCE_NUMBER))
      << found;
  RecordProperty("cell", found);
}

/// The monitor of rclrt_robot finds the publisher of a message by it.
TEST_F(Messages, HaveTheGidOfTheirPublisher) {
  rmw_gid_t gid{};
  ASSERT_EQ(rmw_get_gid_for_publisher(rcl_publisher_get_rmw_handle(&publisher->handle()->publisher),
                                      &gid),
            RMW_RET_OK);
  EXPECT_EQ(std::memcmp(gid.data, second.info.publisher_gid.data, RMW_GID_STORAGE_SIZE), 0);
  const auto* const end = std::ranges::find_if(gid.data, gid.data + RMW_GID_STORAGE_SIZE,
                                               [](std::uint8_t byte) { return byte != 0; });
  EXPECT_NE(end, gid.data + RMW_GID_STORAGE_SIZE) << "all bytes are 0";
  RecordProperty("cell", "yes");
}

TEST_F(Messages, FromAnotherProcessHaveTheGidInTheGraph) {
  Reader far(node, "far");
  only_peer->publish();
  const TakenMessage taken = far.take();
  rcl_allocator_t allocator = rcl_get_default_allocator();
  bool same = false;
  EXPECT_TRUE(eventually([&] {  // the name of the node comes after the publisher
    rcl_topic_endpoint_info_array_t publishers =
        rcl_get_zero_initialized_topic_endpoint_info_array();
    EXPECT_EQ(rcl_get_publishers_info_by_topic(&node.handle()->node, &allocator, "/far", false,
                                               &publishers),
              RCL_RET_OK);
    bool named = false;
    if (publishers.size == 1) {
      const rmw_topic_endpoint_info_t& only = *publishers.info_array;
      named = std::string(only.node_name) == "peer";
      same =
          std::memcmp(only.endpoint_gid, taken.info.publisher_gid.data, RMW_GID_STORAGE_SIZE) == 0;
    }
    EXPECT_EQ(rcl_topic_endpoint_info_array_fini(&publishers, &allocator), RCL_RET_OK);
    return named;
  }));
  RecordProperty("cell", same ? "yes" : "no: the graph has another one");
}

TEST_F(Messages, KnowThatTheyComeFromTheirOwnProcess) {
  RecordProperty("cell", second.info.from_intra_process ? "yes" : "no");
}

/// Publisher::publish sends through the middleware if it counts more than intra-process delivery
/// reaches: see detail::counts_ignored_matches.
TEST_F(Messages, OfTheContextCountASubscriptionThatIgnoresThemAsMatched) {
  const auto ignoring =
      node.create_subscription<Int64>("topic", 10, [](const Int64&) {}, {.intra_process = true});
  const Reader second_reader(node, "topic");
  std::size_t count = 0;
  ASSERT_TRUE(eventually([&] {
    return rcl_publisher_get_subscription_count(&publisher->handle()->publisher, &count) ==
               RCL_RET_OK &&
           count >= 2;
  }));
  RecordProperty("cell", count == 3 ? "yes" : "no");
  EXPECT_EQ(count == 3, detail::counts_ignored_matches());
  EXPECT_EQ(publisher->get_subscription_count(), 3U);
  EXPECT_EQ(ignoring->get_publisher_count(), 1U);
}

std::string lends(bool publisher, bool subscription) {
  return publisher ? (subscription ? "to publish and to take" : "to publish")
                   : (subscription ? "to take" : "no");
}

template <typename T>
std::string lent(Node& node) {
  EXPECT_EQ(setenv("ROS_DISABLE_LOANED_MESSAGES", "0", 1), 0);
  const auto publisher = node.create_publisher<T>("lent", 10);
  const auto subscription = node.create_subscription<T>("lent", 10, [](const T&) {});
  unsetenv("ROS_DISABLE_LOANED_MESSAGES");
  return lends(publisher->can_loan_messages(), subscription->can_loan_messages());
}

TEST_F(Messages, OfAPlainTypeAreLent) { RecordProperty("cell", lent<Int64>(node)); }

TEST_F(Messages, WithAStringAreLent) { RecordProperty("cell", lent<String>(node)); }

}  // namespace
}  // namespace rclrt::test
