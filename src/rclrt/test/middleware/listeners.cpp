// SPDX-License-Identifier: Apache-2.0
// Listeners: which thread calls them, and what they report. Each test is a row of
// docs/results/middlewares.md; the property "cell" is what the table shows.
#include <std_srvs/srv/set_bool.hpp>

#include "reader.hpp"

namespace rclrt::test {
namespace {

using std_srvs::srv::SetBool;

class Listeners : public ::testing::Test {
 protected:
  /// Waits until the listener was called for `count` messages, and records its thread.
  void record_thread(const Heard& heard, std::size_t count) {
    ASSERT_TRUE(eventually([&] { return heard.messages >= count; }));
    RecordProperty("cell", describe_thread(heard.thread, ::gettid()));
  }

  std::shared_ptr<Context> context = make_context();
  Node node{context, "node"};
};

TEST_F(Listeners, OfAMessageFromTheSameContext) {
  Heard heard;  // before the reader, which calls it
  Reader reader(node, "topic");
  reader.listen(heard);
  const auto publisher = node.create_publisher<Int64>("topic", 10);
  ASSERT_TRUE(reader.matched());
  publisher->publish(Int64{});
  record_thread(heard, 1);
}

TEST_F(Listeners, OfAMessageFromAnotherContextOfTheProcess) {
  Heard heard;
  Reader reader(node, "topic");
  reader.listen(heard);
  const auto other = make_context();
  Node far(other, "far");
  const auto publisher = far.create_publisher<Int64>("topic", 10);
  ASSERT_TRUE(reader.matched());
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  publisher->publish(Int64{});
  record_thread(heard, 1);
}

TEST_F(Listeners, OfAMessageFromAnotherProcess) {
  Heard heard;
  Reader reader(node, "far");
  reader.listen(heard);
  only_peer->publish();
  record_thread(heard, 1);
}

TEST_F(Listeners, OfARequestFromAnotherProcess) {
  Heard heard;
  rcl_service_t service = rcl_get_zero_initialized_service();
  const rcl_service_options_t options = rcl_service_get_default_options();
  ASSERT_EQ(rcl_service_init(&service, &node.handle()->node,
                             rosidl_typesupport_cpp::get_service_type_support_handle<SetBool>(),
                             "near_service", &options),
            RCL_RET_OK);
  ASSERT_EQ(rcl_service_set_on_new_request_callback(&service, &Heard::on_new, &heard), RCL_RET_OK);
  only_peer->call();
  record_thread(heard, 1);
  EXPECT_EQ(rcl_service_fini(&service, &node.handle()->node), RCL_RET_OK);
}

/// Entity::listen relies on this: after the second call, every message that waits has
/// been announced at least once.
TEST_F(Listeners, ReportMessagesThatCameBeforeThem) {
  Heard first;
  Heard second;
  Reader reader(node, "topic");
  const auto publisher = node.create_publisher<Int64>("topic", 10);
  ASSERT_TRUE(reader.matched());
  for (int i = 0; i < 3; ++i) {
    publisher->publish(Int64{});
  }
  reader.listen(first);
  reader.listen(second);
  EXPECT_GE(first.messages + second.messages, 3U);
  RecordProperty("cell", std::to_string(first.messages) + " of 3 at the first call, " +
                             std::to_string(second.messages) + " at the second");
}

TEST_F(Listeners, ReportMessagesThatWereReportedBeforeAndStillWait) {
  Heard first;
  Heard second;
  Reader reader(node, "topic");
  reader.listen(first);
  const auto publisher = node.create_publisher<Int64>("topic", 10);
  ASSERT_TRUE(reader.matched());
  for (int i = 0; i < 3; ++i) {
    publisher->publish(Int64{});
  }
  ASSERT_TRUE(eventually([&] { return first.messages == 3; }));
  reader.listen(second);
  RecordProperty("cell", std::to_string(second.messages) + " of 3");
}

TEST_F(Listeners, AreCalledForEachMessage) {
  Heard heard;
  Reader reader(node, "topic");
  reader.listen(heard);
  const auto publisher = node.create_publisher<Int64>("topic", 10);
  ASSERT_TRUE(reader.matched());
  for (int i = 0; i < 8; ++i) {
    publisher->publish(Int64{});
  }
  ASSERT_TRUE(eventually([&] { return heard.messages == 8; }));
  RecordProperty("cell", std::to_string(heard.calls) + " calls for 8 messages");
}

}  // namespace
}  // namespace rclrt::test
