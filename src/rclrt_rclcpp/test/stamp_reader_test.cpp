// SPDX-License-Identifier: Apache-2.0
// The stamps of messages in memory and in CDR, which comes from the network.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <geometry_msgs/msg/point_stamped.hpp>
#include <geometry_msgs/msg/twist.hpp>
#include <random>
#include <rclcpp/serialization.hpp>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <std_msgs/msg/header.hpp>
#include <vector>

#include "message_age.hpp"
#include "support/log.hpp"

namespace rclrt_rclcpp::test {
namespace {

using geometry_msgs::msg::PointStamped;

template <typename MessageT>
StampReader reader_of() {
  return StampReader(*rosidl_typesupport_cpp::get_message_type_support_handle<MessageT>());
}

rclcpp::SerializedMessage in_cdr(const std::vector<std::uint8_t>& bytes) {
  rclcpp::SerializedMessage message(bytes.size() + 1);
  rcl_serialized_message_t& to = message.get_rcl_serialized_message();
  std::copy(bytes.begin(), bytes.end(), to.buffer);
  to.buffer_length = bytes.size();
  return message;
}

constexpr std::int64_t kStamp_ns = 1'700'000'000'123'456'789;

PointStamped stamped() {
  PointStamped message;
  message.header.stamp.sec = 1'700'000'000;
  message.header.stamp.nanosec = 123'456'789;
  message.header.frame_id = "map";
  return message;
}

TEST(StampReader, ReadsMessages) {
  const PointStamped message = stamped();
  EXPECT_TRUE(reader_of<PointStamped>().has_header());
  EXPECT_EQ(reader_of<PointStamped>().stamp_ns(&message), kStamp_ns);
  const geometry_msgs::msg::Twist twist;
  EXPECT_FALSE(reader_of<geometry_msgs::msg::Twist>().has_header());
  EXPECT_EQ(reader_of<geometry_msgs::msg::Twist>().stamp_ns(&twist), 0);
  EXPECT_FALSE(reader_of<std_msgs::msg::Header>().has_header()) << "it is one, and has none";
}

TEST(StampReader, ReadsWhatTheMiddlewareHasSerialized) {
  const PointStamped message = stamped();
  rclcpp::SerializedMessage serialized;
  rclcpp::Serialization<PointStamped>().serialize_message(&message, &serialized);
  EXPECT_EQ(reader_of<PointStamped>().stamp_ns(serialized), kStamp_ns);
}

TEST(StampReader, ReadsBothByteOrders) {
  const StampReader reader = reader_of<PointStamped>();
  EXPECT_EQ(reader.stamp_ns(in_cdr({0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3})), 2'000'000'003);
  EXPECT_EQ(reader.stamp_ns(in_cdr({0, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0})), 2'000'000'003);
  EXPECT_EQ(reader.stamp_ns(in_cdr({0, 1, 0, 0, 255, 255, 255, 255, 3, 0, 0, 0})), -999'999'997);
}

TEST(StampReader, OfWhatItDoesNotKnowThereIsNoStamp) {
  const StampReader reader = reader_of<PointStamped>();
  EXPECT_EQ(reader.stamp_ns(rclcpp::SerializedMessage()), 0);
  EXPECT_EQ(reader.stamp_ns(in_cdr({})), 0);
  EXPECT_EQ(reader.stamp_ns(in_cdr({0, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0})), 0) << "too short";
  EXPECT_EQ(reader.stamp_ns(in_cdr({0, 2, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0})), 0) << "PL_CDR";
  EXPECT_EQ(reader.stamp_ns(in_cdr({1, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0})), 0);
  EXPECT_EQ(
      reader_of<geometry_msgs::msg::Twist>().stamp_ns(in_cdr({0, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0})),
      0);
}

TEST(StampReader, WarnsOfATypeWithoutADescriptionOnlyIfAgesCountFromIt) {
  rosidl_message_type_support_t unknown{};
  unknown.typesupport_identifier = "none";
  unknown.func = [](const rosidl_message_type_support_t* /*own*/,
                    const char* /*identifier*/) -> const rosidl_message_type_support_t* {
    return nullptr;
  };
  const Log log;
  EXPECT_FALSE(StampReader(unknown, false).has_header());
  EXPECT_EQ(Log::all(), "");
  EXPECT_FALSE(StampReader(unknown).has_header());
  EXPECT_TRUE(Log::has(RCUTILS_LOG_SEVERITY_WARN, "description of a message type is not found"));
}

/// Bytes from the network: whatever they are, nothing beyond their end is read. (AddressSanitizer)
TEST(StampReader, AnyBytesGiveAStampOrNone) {
  const StampReader reader = reader_of<PointStamped>();
  std::mt19937 random(1);
  int stamps = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::vector<std::uint8_t> bytes(random() % 20);
    for (std::uint8_t& each : bytes) {
      each = static_cast<std::uint8_t>(random() % 4 == 0 ? random() : random() % 3);
    }
    const bool is_plain = bytes.size() >= 12 && bytes[0] == 0 && bytes[1] <= 1;
    const std::int64_t stamp_ns = reader.stamp_ns(in_cdr(bytes));
    EXPECT_TRUE(is_plain || stamp_ns == 0);
    stamps += stamp_ns != 0 ? 1 : 0;
  }
  EXPECT_GT(stamps, 100);
}

}  // namespace
}  // namespace rclrt_rclcpp::test
