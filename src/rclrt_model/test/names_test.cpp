// SPDX-License-Identifier: Apache-2.0
#include "names.hpp"

#include <gtest/gtest.h>

namespace rclrt::model::detail {
namespace {

TEST(Token, BeginsWithALetterAndHasNoDoubleUnderscore) {
  for (const auto* good : {"a", "_", "_a", "a1", "A_b_9", "lidar_"}) {
    EXPECT_TRUE(is_token(good));
  }
  for (const auto* bad : {"", "1a", "a-b", "a b", "a/b", "a__b", "\xC3\xA4", "a\n", "~", "{a}"}) {
    EXPECT_FALSE(is_token(bad)) << bad;
  }
}

TEST(Token, HasAtMost255Characters) {
  EXPECT_TRUE(is_token(std::string(255, 'a')));
  EXPECT_FALSE(is_token(std::string(256, 'a')));
}

TEST(Topic, ConsistsOfTokensSeparatedBySlashes) {
  for (const auto* good : {"a", "/a", "a/b", "/a/b/c1"}) {
    EXPECT_TRUE(is_topic(good)) << good;
  }
  for (const auto* bad :
       {"", "/", "a/", "/a/", "//a", "a//b", "~/a", "~", "/1a", "a__b/c", "a b"}) {
    EXPECT_FALSE(is_topic(bad)) << bad;
  }
}

TEST(Namespace, IsTheRootOrAbsolute) {
  for (const auto* good : {"/", "/a", "/a/b"}) {
    EXPECT_TRUE(is_namespace(good)) << good;
  }
  for (const auto* bad : {"", "a", "/a/", "//", "/a//b", "/1"}) {
    EXPECT_FALSE(is_namespace(bad)) << bad;
  }
  EXPECT_TRUE(is_namespace("/" + std::string(244, 'a')));
  EXPECT_FALSE(is_namespace("/" + std::string(245, 'a')));
}

TEST(ResolvedTopic, HasTheNamespaceUnlessItIsAbsolute) {
  EXPECT_EQ(resolve_topic("points", "/"), "/points");
  EXPECT_EQ(resolve_topic("points", "/front"), "/front/points");
  EXPECT_EQ(resolve_topic("/points", "/front"), "/points");
}

}  // namespace
}  // namespace rclrt::model::detail
