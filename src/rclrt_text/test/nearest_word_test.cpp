// SPDX-License-Identifier: Apache-2.0
#include "rclrt/text/nearest_word.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rclrt::text {
namespace {

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  return nearest_word(word, known);
}

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("points", "point"), 1U);
  EXPECT_EQ(edit_distance("fuse", "fuze"), 1U);
  EXPECT_EQ(edit_distance("chians", "chains"), 1U) << "two neighbours swapped";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(NearestWord, HasTheFewestEdits) {
  EXPECT_EQ(nearest("pionts", {"images", "point", "points"}), "points");
  EXPECT_EQ(nearest("brake", {"fifo", "rr", "other"}), "");
}

TEST(NearestWord, IsTheOnlyOneThatBeginsSo) {
  EXPECT_EQ(nearest("prio", {"node", "priority", "period_ms"}), "priority");
  EXPECT_EQ(nearest("per", {"period_ms", "percentage_of"}), "");
  EXPECT_EQ(nearest("pr", {"node", "priority"}), "");
}

TEST(NearestWord, DoesNotReplaceAWordAltogether) { EXPECT_EQ(nearest("a", {"b"}), ""); }

TEST(NearestWord, IsNotSoughtForVeryLongWords) {
  const std::string word(1'000'000, 'a');
  const std::string known(999'999, 'a');
  EXPECT_EQ(nearest(word, {known}), "");
}

}  // namespace
}  // namespace rclrt::text
