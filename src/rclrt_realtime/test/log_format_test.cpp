// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/log_format.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace rclrt::realtime {
namespace {

using enum LogFormatProblem;

TEST(LogFormat, TakesOneArgumentPerPlaceholder) {
  EXPECT_EQ(find_log_format_problem("nothing", 0), kNone);
  EXPECT_EQ(find_log_format_problem("{} and {:>8.3f}", 2), kNone);
  EXPECT_EQ(find_log_format_problem("{:%H:%M:%S}", 1), kNone);
  EXPECT_EQ(find_log_format_problem("{} and {}", 1), kMorePlaceholdersThanArguments);
  EXPECT_EQ(find_log_format_problem("{}", 2), kFewerPlaceholdersThanArguments);
  EXPECT_EQ(find_log_format_problem("", 1), kFewerPlaceholdersThanArguments);
}

TEST(LogFormat, TakesNumbersInsteadOfTheOrder) {
  EXPECT_EQ(find_log_format_problem("{1} {0} {1:x}", 2), kNone);
  EXPECT_EQ(find_log_format_problem("{2}", 2), kMorePlaceholdersThanArguments);
  EXPECT_EQ(find_log_format_problem("{0}", 2), kFewerPlaceholdersThanArguments);
  EXPECT_EQ(find_log_format_problem("{99999999999999999999999}", 2),
            kMorePlaceholdersThanArguments);
  EXPECT_EQ(find_log_format_problem("{0} {}", 2), kMixedNumbering);
}

TEST(LogFormat, KnowsDoubledBraces) {
  EXPECT_EQ(find_log_format_problem("{{}}", 0), kNone);
  EXPECT_EQ(find_log_format_problem("{{{}}}", 1), kNone);
  EXPECT_EQ(find_log_format_problem("{", 0), kUnmatchedBrace);
  EXPECT_EQ(find_log_format_problem("}", 0), kUnmatchedBrace);
  EXPECT_EQ(find_log_format_problem("{} }", 1), kUnmatchedBrace);
  EXPECT_EQ(find_log_format_problem("{:d", 1), kUnmatchedBrace);
  EXPECT_EQ(find_log_format_problem("{0", 1), kUnmatchedBrace);
}

TEST(LogFormat, RefusesWhatNeedsMoreThanArgumentsInARow) {
  EXPECT_EQ(find_log_format_problem("{name}", 1), kNamedArgument);
  EXPECT_EQ(find_log_format_problem("{0x}", 1), kNamedArgument);
  EXPECT_EQ(find_log_format_problem("{:{}}", 2), kNestedPlaceholder);
}

TEST(LogFormat, BoundsWhatALineCanGrowTo) {
  EXPECT_EQ(find_log_format_problem("{:1024}", 1), kNone);
  EXPECT_EQ(find_log_format_problem("{:1025}", 1), kWidthOrPrecisionTooLarge);
  EXPECT_EQ(find_log_format_problem("{:.99999999999999999999f}", 1), kWidthOrPrecisionTooLarge);
}

TEST(LogFormat, BoundsItsOwnSize) {
  EXPECT_EQ(find_log_format_problem(std::string(kMaxLogFormat, 'x'), 0), kNone);
  EXPECT_EQ(find_log_format_problem(std::string(kMaxLogFormat + 1, 'x'), 0), kTooLong);
}

TEST(LogFormat, KnowsWhereItStands) {
  const LogFormat<int> format("{}");
  EXPECT_TRUE(std::string(__FILE__).ends_with(format.file()));
  EXPECT_EQ(format.line(), static_cast<std::uint32_t>(__LINE__ - 2));
}

// Every text of three significant characters causes no out-of-range read (under AddressSanitizer)
// and no endless loop.
TEST(LogFormat, ReadsAnyText) {
  const std::string alphabet = "{}:0.a";
  int accepted = 0;
  for (const char a : alphabet) {
    for (const char b : alphabet) {
      for (const char c : alphabet) {
        for (const char d : alphabet) {
          const std::string text{a, b, c, d};
          accepted += find_log_format_problem({text.data(), text.size()}, 1) == kNone ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace rclrt::realtime
