// SPDX-License-Identifier: Apache-2.0
#include "reader.hpp"

#include <gmock/gmock.h>
#include <rmw/qos_profiles.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <std_srvs/srv/set_bool.hpp>
#include <system_error>

#include "rclrt/node.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread_origin.hpp"

namespace rclrt::test {

const Peer* only_peer = nullptr;

namespace {

using std_srvs::srv::SetBool;

/// Follows the commands of the test program until it closes the pipe or ends. Uses ROS from the
/// first command on.
void follow(int commands) {
  char command = 0;
  if (::read(commands, &command, 1) != 1) {
    return;
  }
  const auto context = make_context();
  Node node(context, "peer");
  const auto publisher = node.create_publisher<Int64>("far", 10);
  const auto service = node.create_service<SetBool>(
      "far_service", [](const SetBool::Request&, SetBool::Response&) {});
  const auto client = node.create_client<SetBool>("near_service");
  const auto executor = make_executor("events", context, {.name = "peer"});
  executor->add_node(node);
  std::thread spinner([&] { executor->spin(); });
  std::int64_t sent = 0;
  do {
    if (command == 'c' && client->wait_for_service(kLimit)) {
      client->async_send_request(SetBool::Request{}, [](const SetBool::Response&) {});
    } else if (eventually([&] { return publisher->get_subscription_count() > 0; })) {
      publisher->publish(Int64().set__data(++sent));
    }
  } while (::read(commands, &command, 1) == 1);
  executor->cancel();
  spinner.join();
}

}  // namespace

Reader::Reader(const Node& node, const std::string& topic) : node_(node.handle()) {
  rcl_subscription_options_t options = rcl_subscription_get_default_options();
  const auto* const type = rosidl_typesupport_cpp::get_message_type_support_handle<Int64>();
  const rcl_ret_t made =
      rcl_subscription_init(&subscription_, &node_->node, type, topic.c_str(), &options);
  detail::report(rcl_subscription_options_fini(&options), "ending options");
  detail::check(made, "creating a subscription");
}

Reader::~Reader() {
  detail::report(rcl_subscription_fini(&subscription_, &node_->node), "ending a subscription");
}

bool Reader::matched() const {
  return eventually([&] {
    std::size_t count = 0;
    return rcl_subscription_get_publisher_count(&subscription_, &count) == RCL_RET_OK && count > 0;
  });
}

void Reader::listen(Heard& heard) {
  detail::check(
      rcl_subscription_set_on_new_message_callback(&subscription_, &Heard::on_new, &heard),
      "setting a listener");
}

TakenMessage Reader::take() {
  TakenMessage taken;
  const bool arrived = eventually([&] {
    Int64 message;
    const rcl_ret_t result = rcl_take(&subscription_, &message, &taken.info, nullptr);
    taken.data = message.data;
    return result == RCL_RET_OK;
  });
  EXPECT_TRUE(arrived);
  return taken;
}

std::string describe_thread(pid_t tid, pid_t publisher) {
  if (tid == publisher) {
    return "the publisher's own thread";
  }
  const auto origins = realtime::thread_origins();
  const auto origin = origins.find(tid);
  const std::string library = origin == origins.end() ? "" : origin->second.library;
  return "`" + realtime::thread_name(tid) + "` of `" + (library.empty() ? "?" : library) + "`";
}

Peer::Peer() {
  int ends[2];
  if (::pipe(ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  domain_id();  // both processes use it, and this one keeps it
  pid_ = ::fork();
  if (pid_ < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (pid_ == 0) {
    ::close(ends[1]);
    try {
      follow(ends[0]);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "peer: %s\n", error.what());
    }
    std::_Exit(0);
  }
  ::close(ends[0]);
  commands_ = ends[1];
}

Peer::~Peer() {
  ::close(commands_);
  int status = 0;
  ::waitpid(pid_, &status, 0);
}

void Peer::tell(char command) const {
  if (::write(commands_, &command, 1) != 1) {
    throw std::system_error(errno, std::generic_category(), "the peer has ended");
  }
}

}  // namespace rclrt::test

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  if (GTEST_FLAG_GET(list_tests)) {
    return RUN_ALL_TESTS();
  }
  const rclrt::test::Peer peer;  // forks before this process uses ROS
  rclrt::test::only_peer = &peer;
  return RUN_ALL_TESTS();
}
