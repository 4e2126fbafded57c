// SPDX-License-Identifier: Apache-2.0
#include "rclrt/yaml/suggest.hpp"

#include <gtest/gtest.h>

namespace rclrt::yaml {
namespace {

TEST(Suggestion, IsTheNearestKnownWord) {
  Suggester suggester;
  const auto suggestion = suggester.suggest("pionts", {"images", "point", "points"}, "a topic");
  EXPECT_EQ(suggestion.guess, "points");
  EXPECT_EQ(suggestion.expected, "a topic (did you mean 'points'?)");
}

TEST(Suggestion, IsTheOnlyWordThatBeginsSo) {
  EXPECT_EQ(Suggester().suggest("prio", {"node", "priority", "period_ms"}, "a key").guess,
            "priority");
  EXPECT_EQ(Suggester().suggest("per", {"period_ms", "percentage_of"}, "a key").guess, "");
  EXPECT_EQ(Suggester().suggest("pr", {"node", "priority"}, "a key").guess, "");
}

TEST(Suggestion, ListsFewKnownWordsWhenNoneIsNear) {
  Suggester suggester;
  EXPECT_EQ(suggester.suggest("brake", {"fifo", "rr", "other"}, "a policy").expected,
            "'fifo', 'rr' or 'other'");
}

TEST(Suggestion, DoesNotListManyWords) {
  Suggester suggester;
  const std::vector<std::string_view> known(11, "something");
  EXPECT_EQ(suggester.suggest("brake", known, "a name").expected, "a name");
  EXPECT_EQ(suggester.suggest("brake", {}, "a name").expected, "a name");
}

TEST(Suggestion, DoesNotReplaceAWordAltogether) {
  Suggester suggester;
  EXPECT_EQ(suggester.suggest("a", {"b"}, "a name").guess, "");
}

TEST(Suggestion, IsNotSoughtForVeryLongWords) {
  Suggester suggester;
  const std::string word(1'000'000, 'a');
  const std::string known(999'999, 'a');
  EXPECT_EQ(suggester.suggest(word, {known}, "a name").guess, "");
}

TEST(Suggestion, EndsAfterAHundredThousandComparisons) {
  Suggester suggester;
  std::vector<std::string_view> known(99'999, "nothing_like_it");
  EXPECT_EQ(suggester.suggest("pionts", known, "a topic").guess, "");
  EXPECT_EQ(suggester.suggest("pionts", {"points"}, "a topic").guess, "points");
  EXPECT_EQ(suggester.suggest("pionts", {"points"}, "a topic").guess, "");
}

}  // namespace
}  // namespace rclrt::yaml
