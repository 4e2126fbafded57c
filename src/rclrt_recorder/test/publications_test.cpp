// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/publications.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rclrt::recorder {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kUs = 1'000;

/// Two nodes; the first one publishes on /points.
class PublicationsTest : public testing::Test {
 protected:
  std::uint32_t add(std::size_t node, const std::string& topic = "") {
    model::Callback callback{.id = std::to_string(application_.callbacks.size()), .node = node};
    callback.trigger = model::Timer{};
    if (!topic.empty()) {
      callback.trigger = model::Subscription{.topics = {topic}};
    }
    application_.callbacks.push_back(callback);
    return static_cast<std::uint32_t>(application_.callbacks.size() - 1);
  }

  void ran(std::uint32_t callback, std::int64_t start_us, std::int64_t end_us,
           std::int64_t published_us = 0) {
    LoggedInstance instance;
    instance.record.callback = callback;
    instance.record.start_ns = start_us * kUs;
    instance.record.end_ns = end_us * kUs;
    instance.published_ns = published_us * kUs;
    instances_.push_back(instance);
  }

  void find() { find_publications(application_, instances_, {{"/points"}, {"/other"}}); }

  const std::vector<std::string>& of(std::uint32_t callback) const {
    return application_.callbacks[callback].publishes;
  }

  model::Application application_;
  std::vector<LoggedInstance> instances_;
};

TEST_F(PublicationsTest, AMessageIsOfWhatRanInANodeThatPublishesThere) {
  const auto scan = add(0);
  const auto elsewhere = add(1);
  const auto take = add(1, "/points");
  for (std::int64_t at = 1; at < 50; ++at) {
    ran(scan, 100 * at, 100 * at + 10);
    ran(elsewhere, 100 * at - 5, 100 * at + 20);
    ran(take, 100 * at + 20, 100 * at + 30, 100 * at + 5);
  }
  find();
  EXPECT_THAT(of(scan), ElementsAre("/points"));
  EXPECT_THAT(of(elsewhere), IsEmpty());
}

TEST_F(PublicationsTest, WhatRunsAllTheTimeBesideIsNotTakenForThePublisher) {
  const auto plan = add(0);
  const auto scan = add(0);
  const auto take = add(1, "/points");
  ran(plan, 0, 10'000);
  for (std::int64_t at = 1; at < 50; ++at) {
    ran(scan, 100 * at, 100 * at + 10);
    ran(take, 100 * at + 20, 100 * at + 30, 100 * at + 5);
  }
  find();
  EXPECT_THAT(of(scan), ElementsAre("/points"));
  EXPECT_THAT(of(plan), IsEmpty());
}

TEST_F(PublicationsTest, SeveralPublishersOfATopicAreAllFound) {
  const auto one = add(0);
  const auto other = add(0);
  const auto take = add(1, "/points");
  for (std::int64_t at = 1; at < 50; ++at) {
    ran(at % 5 == 0 ? other : one, 100 * at, 100 * at + 10);
    ran(take, 100 * at + 20, 100 * at + 30, 100 * at + 5);
  }
  find();
  EXPECT_THAT(of(one), ElementsAre("/points"));
  EXPECT_THAT(of(other), ElementsAre("/points"));
}

TEST_F(PublicationsTest, ACoincidenceIsNoPublisher) {
  const auto scan = add(0);
  const auto beside = add(0);
  const auto take = add(1, "/points");
  for (std::int64_t at = 1; at < 1'000; ++at) {
    if (at != 7) {  // published by a thread of the node's own
      ran(scan, 100 * at, 100 * at + 10);
    }
    ran(take, 100 * at + 20, 100 * at + 30, 100 * at + 5);
  }
  ran(beside, 700, 710);
  find();
  EXPECT_THAT(of(scan), ElementsAre("/points"));
  EXPECT_THAT(of(beside), IsEmpty());
}

TEST_F(PublicationsTest, ManyRarePublishersOfOneTopicAreAllFound) {
  std::vector<std::uint32_t> sixty;
  for (int i = 0; i < 60; ++i) {
    sixty.push_back(add(0));
  }
  const auto take = add(1, "/points");
  for (std::int64_t at = 1; at <= 600; ++at) {
    ran(sixty[static_cast<std::size_t>(at % 60)], 100 * at, 100 * at + 10);
    ran(take, 100 * at + 20, 100 * at + 30, 100 * at + 5);
  }
  find();
  for (const auto each : sixty) {
    EXPECT_THAT(of(each), ElementsAre("/points")) << each;
  }
}

TEST_F(PublicationsTest, OneCoincidenceWithAThreadOutsideMakesNoPublisher) {
  const auto scan = add(0);
  const auto take = add(1, "/points");
  for (std::int64_t at = 1; at < 1'000; ++at) {
    ran(take, 100 * at + 20, 100 * at + 30, 100 * at + 5);
  }
  ran(scan, 700, 710);
  find();
  EXPECT_THAT(of(scan), IsEmpty());
}

TEST_F(PublicationsTest, ATopicThatCallbacksExplainInPartHasNoPublisher) {
  const auto scan = add(0);
  const auto take = add(1, "/points");
  for (std::int64_t at = 1; at < 50; ++at) {
    if (at % 3 != 0) {  // a thread of the node publishes each third message
      ran(scan, 100 * at, 100 * at + 10);
    }
    ran(take, 100 * at + 20, 100 * at + 30, 100 * at + 5);
  }
  find();
  EXPECT_THAT(of(scan), IsEmpty());
}

TEST_F(PublicationsTest, WhatComesFromOutsideHasNoPublisher) {
  const auto scan = add(0);
  const auto take = add(0, "/elsewhere");
  ran(scan, 100, 110);
  ran(take, 120, 130, 105);
  find();
  EXPECT_THAT(of(scan), IsEmpty());
}

TEST_F(PublicationsTest, ATimeThatIsAMomentOffIsStillOfThatRun) {
  const auto scan = add(0);
  const auto take = add(1, "/points");
  ran(scan, 100, 110);
  ran(take, 150, 160, 115);  // two clocks
  ran(scan, 200, 210);
  ran(take, 250, 260, 205);
  find();
  EXPECT_THAT(of(scan), ElementsAre("/points"));
}

}  // namespace
}  // namespace rclrt::recorder
