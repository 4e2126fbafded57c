// SPDX-License-Identifier: Apache-2.0
#include "message_memory.hpp"

#include <gtest/gtest.h>

#include <rclrt/model/parse.hpp>
#include <string>

namespace rclrt::runner {
namespace {

model::Application application(const std::string& size) {
  const std::string text =
      "rclrt: 1\nname: small\n"
      "executors: [{name: front}, {name: back}]\n"
      "nodes: [{name: camera, executor: front}, {name: control, executor: back}]\n"
      "callbacks:\n"
      "  - {id: take, node: camera, timer: {period_ms: 10}, wcet_ms: 1, publishes: [image]}\n"
      "  - {id: find, node: control, subscription: {topic: image, depth: 5}, wcet_ms: 1}\n"
      "  - {id: show, node: control, subscription: {topic: image, depth: 1}, wcet_ms: 1}\n"
      "chains: [{id: chain, callbacks: [take, find], priority: 1}]\n"
      "topics: [{name: image, size_bytes: " +
      size + "}]\n";
  return model::parse_application(text).application.value();
}

TEST(MessageMemory, CountsWhatThePublisherAndItsSubscriptionsKeepAndOneMessageInHandOfEach) {
  const auto made = application("1000");
  EXPECT_EQ(message_memory(made, 0), (11U + 6U + 2U) * 1000U);
  EXPECT_EQ(message_memory(made, 1), (6U + 2U) * 1000U);  // it publishes none of them
}

TEST(MessageMemory, IsLimitedHoweverLargeMessagesAre) {
  const auto made = application("10000000");
  EXPECT_EQ(message_memory(made, 0), std::size_t{32} << 20);
}

TEST(StackSize, IsSmallUnlessAnExecutorRunsAUsersProgram) {
  const auto made = [](const std::string& workload) {
    const std::string text =
        "rclrt: 1\nname: small\n"
        "executors: [{name: front}, {name: back}]\n"
        "nodes: [{name: camera, executor: front}, {name: control, executor: back}]\n"
        "callbacks:\n"
        "  - {id: take, node: camera, timer: {period_ms: 10}, wcet_ms: 1, publishes: [image]}\n"
        "  - {id: find, node: control, subscription: {topic: image}, wcet_ms: 1, workload: "
        "{name: " +
        workload +
        ", iterations: 1}}\n"
        "chains: [{id: chain, callbacks: [take, find], priority: 1}]\n";
    return model::parse_application(text).application.value();
  };
  EXPECT_EQ(stack_size(made("matrix"), 1), kOwnStack);
  EXPECT_EQ(stack_size(made("program_of_a_user"), 1), kImportedStack);
  EXPECT_EQ(stack_size(made("program_of_a_user"), 0), kOwnStack);
}

}  // namespace
}  // namespace rclrt::runner
