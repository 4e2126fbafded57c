// SPDX-License-Identifier: Apache-2.0
#include "rclrt/text/number.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace rclrt::text {
namespace {

TEST(ParseNumber, ReadsTheWholeText) {
  EXPECT_EQ(parse_number<int>("42"), 42);
  EXPECT_EQ(parse_number<int>("-7"), -7);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_number<double>("2.5"), 2.5);
  EXPECT_EQ(parse_number<double>("1e-3"), 1e-3);
}

TEST(ParseNumber, RefusesEverythingElse) {
  for (const std::string_view text : {"", " 1", "1 ", "+1", "1s", "0x10", "--1", "2.5", "one"}) {
    EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
  }
  for (const std::string_view text : {"", " 1", "1,5", "+1", "1e", "0x10", "1e999"}) {
    EXPECT_EQ(parse_number<double>(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_number<unsigned>("-1"), std::nullopt);
  EXPECT_EQ(parse_number<int>(std::string_view()), std::nullopt);
}

TEST(ParseNumber, RefusesWhatTheTypeCannotRepresent) {
  EXPECT_EQ(parse_number<int>("2147483648"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551616"), std::nullopt);
  for (const std::string_view text : {"inf", "-inf", "nan"}) {
    EXPECT_EQ(parse_number<double>(text), std::nullopt) << text;
  }
}

TEST(ParseNumber, RefusesWhatIsOutOfTheRange) {
  EXPECT_EQ(parse_number<int>("1", {1, 99}), 1);
  EXPECT_EQ(parse_number<int>("99", {1, 99}), 99);
  EXPECT_EQ(parse_number<int>("0", {1, 99}), std::nullopt);
  EXPECT_EQ(parse_number<int>("100", {1, 99}), std::nullopt);
  EXPECT_EQ(parse_number<double>("nan", {0, 1}), std::nullopt);
  EXPECT_EQ(parse_number<double>("1.0001", {0, 1}), std::nullopt);
}

TEST(ParseNumber, HasABase) {
  EXPECT_EQ(parse_number<std::uint64_t>("ff", {}, 16), 255U);
  EXPECT_EQ(parse_number<std::uint64_t>("17", {}, 8), 15U);
  EXPECT_EQ(parse_number<std::uint64_t>("8", {}, 8), std::nullopt);
}

TEST(TakeNumber, TakesItOffTheBegin) {
  std::string_view text = "12 345us";
  EXPECT_EQ(take_number<int>(text), 12);
  EXPECT_EQ(text, " 345us");
  text.remove_prefix(1);
  EXPECT_EQ(take_number<int>(text), 345);
  EXPECT_EQ(text, "us");
}

TEST(TakeNumber, LeavesTheTextIfThereIsNone) {
  for (const std::string_view text : {"us", "", "99999999999999999999s"}) {
    std::string_view rest = text;
    EXPECT_EQ(take_number<std::uint64_t>(rest), std::nullopt);
    EXPECT_EQ(rest, text);
  }
}

}  // namespace
}  // namespace rclrt::text
