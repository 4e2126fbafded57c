// SPDX-License-Identifier: Apache-2.0
#include "rclrt/yaml/diagnostics.hpp"

#include <gtest/gtest.h>

namespace rclrt::yaml {
namespace {

TEST(Diagnostics, ComeInTheOrderOfThePositions) {
  Diagnostics diagnostics;
  diagnostics.report({7, 2}, "third", "x");
  diagnostics.report({3, 9}, "second", "x");
  diagnostics.report({3, 1}, "first", "x");
  diagnostics.report({7, 2}, "fourth", "x");
  const auto all = diagnostics.take();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].message, "first; expected x");
  EXPECT_EQ(all[1].message, "second; expected x");
  EXPECT_EQ(all[2].message, "third; expected x");
  EXPECT_EQ(all[3].message, "fourth; expected x") << "at the same place in the order of reporting";
}

TEST(Diagnostics, CountInsteadOfKeepingAfterAThousand) {
  Diagnostics diagnostics;
  for (std::uint32_t i = 1; i <= 1234; ++i) {
    diagnostics.report({i, 1}, "bad", "good");
  }
  const auto all = diagnostics.take();
  ASSERT_EQ(all.size(), 1001U);
  EXPECT_EQ(all.back(), (Diagnostic{1000, 1, "234 more problems are not shown; expected none"}));
}

TEST(Quotes, LeaveReadableTextAlone) {
  EXPECT_EQ(in_quotes("points"), "'points'");
  EXPECT_EQ(in_quotes("gr\xC3\xB6\xC3\x9F"
                      "e \xE2\x82\xAC \xF0\x9F\x9A\x97"),
            "'gr\xC3\xB6\xC3\x9F"
            "e \xE2\x82\xAC \xF0\x9F\x9A\x97'");
}

TEST(Quotes, EscapeWhatATerminalWouldObey) {
  EXPECT_EQ(in_quotes("a\x1B[31m\n\x7F"), "'a\\x1b[31m\\n\\x7f'");
  EXPECT_EQ(in_quotes("\xC2\x9B"), "'\\xc2\\x9b'") << "a control character of C1";
}

TEST(Quotes, EscapeWhatCannotBeSeen) {
  EXPECT_EQ(in_quotes("\xE2\x80\x8B"), "'\\xe2\\x80\\x8b'") << "a blank of no width";
  EXPECT_EQ(in_quotes("\xE2\x80\xAE"), "'\\xe2\\x80\\xae'") << "right-to-left override";
  EXPECT_EQ(in_quotes("\xE2\x81\xA6"), "'\\xe2\\x81\\xa6'") << "left-to-right isolate";
  EXPECT_EQ(in_quotes("\xEF\xBB\xBF"), "'\\xef\\xbb\\xbf'") << "a byte order mark";
}

TEST(Quotes, ShortenLongTextBetweenCharacters) {
  EXPECT_EQ(in_quotes(std::string(80, 'a')), "'" + std::string(80, 'a') + "'");
  EXPECT_EQ(in_quotes(std::string(81, 'a')), "'" + std::string(80, 'a') + "...'");
  EXPECT_EQ(in_quotes(std::string(79, 'a') + "\xE2\x82\xAC"
                                             "b"),
            "'" + std::string(79, 'a') + "\xE2\x82\xAC...'");
}

TEST(Quotes, ListAlternatives) {
  EXPECT_EQ(list_in_quotes({"a"}), "'a'");
  EXPECT_EQ(list_in_quotes({"a", "b"}), "'a' or 'b'");
  EXPECT_EQ(list_in_quotes({"a", "b", "c"}), "'a', 'b' or 'c'");
}

}  // namespace
}  // namespace rclrt::yaml
