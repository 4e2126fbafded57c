// SPDX-License-Identifier: Apache-2.0
/// Inputs of a size that only an attacker or a generator produces. Quadratic work would take hours
/// here, so the time limit of the test run is the assertion on the time.
#include <gtest/gtest.h>

#include <string>

#include "rclrt/model/parse.hpp"

namespace rclrt::model {
namespace {

constexpr std::size_t kMany = 100'000;
constexpr std::string_view kHead = "rclrt: 1\nname: large\nnodes: [{name: n}]\ncallbacks:\n";

std::string timer(const std::string& id, const std::string& topics) {
  return "  - {id: " + id + ", node: n, timer: {period_ms: 50}, wcet_ms: 0, publishes: [" + topics +
         "]}\n";
}

std::string subscription(const std::string& id, const std::string& topic,
                         const std::string& published) {
  return "  - {id: " + id + ", node: n, subscription: {topic: " + topic +
         "}, wcet_ms: 0, publishes: [" + published + "]}\n";
}

std::string number(std::size_t i) { return std::to_string(i); }

/// Returns a path of kMany callbacks.
std::string path() {
  std::string yaml(kHead);
  yaml += timer("c0", "t0");
  for (std::size_t i = 1; i < kMany; ++i) {
    yaml += subscription("c" + number(i), "t" + number(i - 1), "t" + number(i));
  }
  return yaml;
}

std::string one_chain() { return "chains: [{id: c, callbacks: [c0], priority: 1}]\n"; }

TEST(HostileInput, APathOfAHundredThousandCallbacksIsReadWhole) {
  std::string yaml = path() + "chains:\n  - {id: whole, priority: 1, callbacks: [c0";
  for (std::size_t i = 1; i < kMany; ++i) {
    yaml += ", c" + number(i);
  }
  yaml += "]}\n";
  const auto result = parse_application(yaml);
  ASSERT_TRUE(result.application.has_value());
  EXPECT_EQ(result.application->callbacks.size(), kMany);
  EXPECT_EQ(result.application->chains[0].callbacks.size(), kMany);
  EXPECT_EQ(result.application->rates().back(), 20.0);
}

TEST(HostileInput, ACycleOfAHundredThousandCallbacksIsFoundWithoutRecursion) {
  std::string yaml = path();
  yaml.replace(yaml.find("timer: {period_ms: 50}"), 22,
               "subscription: {topic: t" + number(kMany - 1) + "}");
  const auto result = parse_application(yaml + one_chain());
  ASSERT_FALSE(result.diagnostics.empty());
  EXPECT_NE(result.diagnostics[0].message.find("(99988 more)"), std::string::npos);
}

TEST(HostileInput, ATopicOfThousandsOfPublishersAndSubscribersIsNoQuadraticGraph) {
  std::string yaml(kHead);
  for (std::size_t i = 0; i < kMany / 2; ++i) {
    yaml += timer("p" + number(i), "t");
  }
  for (std::size_t i = 0; i < kMany / 2; ++i) {
    yaml += subscription("s" + number(i), "t", "");
  }
  const auto result =
      parse_application(yaml + "chains: [{id: c, callbacks: [p0, s7], priority: 1}]\n");
  ASSERT_TRUE(result.application.has_value());
  EXPECT_DOUBLE_EQ(result.application->rates().back(), 20.0 * kMany / 2);
}

TEST(HostileInput, AHundredThousandUnknownNamesAreCountedAndNotAllCompared) {
  std::string yaml = path() + "chains:\n  - {id: c, priority: 1, callbacks: [c0";
  for (std::size_t i = 1; i < kMany; ++i) {
    yaml += ", d" + number(i);
  }
  const auto result = parse_application(yaml + "]}\n");
  ASSERT_EQ(result.diagnostics.size(), 1001U);
  EXPECT_EQ(result.diagnostics.back().message, "98999 more problems are not shown; expected none");
}

TEST(HostileInput, ChainsThatFollowACallbackWithManyTopicsAreChecked) {
  std::string topics = "t0";
  for (std::size_t i = 1; i < kMany; ++i) {
    topics += ", t" + number(i);
  }
  std::string yaml(kHead);
  yaml += timer("c0", topics) + subscription("s", "t7", "");
  yaml += "chains:\n";
  for (std::size_t i = 0; i < kMany; ++i) {
    yaml += "  - {id: c" + number(i) + ", callbacks: [c0, s], priority: 1}\n";
  }
  const auto result = parse_application(yaml);
  ASSERT_TRUE(result.application.has_value());
  EXPECT_EQ(result.application->chains.size(), kMany);
}

TEST(HostileInput, AMappingOfAMillionKeysIsRead) {
  std::string yaml = "rclrt: 1\n";
  for (std::size_t i = 0; i < 10 * kMany; ++i) {
    yaml += "k" + number(i) + ": 1\n";
  }
  const auto result = parse_application(yaml);
  EXPECT_EQ(result.diagnostics.size(), 1001U);
}

TEST(HostileInput, MoreThan16MiBAreRefusedUnread) {
  std::string yaml(kMaxInputBytes + 1, ' ');
  auto result = parse_application(yaml);
  ASSERT_EQ(result.diagnostics.size(), 1U);
  EXPECT_EQ(to_string(result.diagnostics[0], "x"),
            "x:1:1: the file is larger than 16 MiB; expected at most 16777216 bytes");
  yaml.pop_back();
  result = parse_application(yaml);
  ASSERT_EQ(result.diagnostics.size(), 1U);
  EXPECT_EQ(result.diagnostics[0].message, "the file is empty; expected 'rclrt: 1' to begin it");
}

TEST(HostileInput, AWordOf16MiBIsShownInPart) {
  std::string yaml = "rclrt: 1\nname: ";
  yaml += std::string(kMaxInputBytes - yaml.size(), 'a');
  const auto result = parse_application(yaml);
  ASSERT_FALSE(result.diagnostics.empty());
  for (const auto& diagnostic : result.diagnostics) {
    EXPECT_LT(diagnostic.message.size(), 300U);
  }
}

}  // namespace
}  // namespace rclrt::model
