// SPDX-License-Identifier: Apache-2.0
#include "rclrt/yaml/milliseconds.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

namespace rclrt::yaml {
namespace {

std::optional<std::int64_t> nanoseconds(std::string_view text) {
  const auto result = parse_milliseconds(text);
  if (!result.value) {
    return std::nullopt;
  }
  return result.value->count();
}

TEST(Milliseconds, AreReadExactly) {
  EXPECT_EQ(nanoseconds("0"), 0);
  EXPECT_EQ(nanoseconds("20"), 20'000'000);
  EXPECT_EQ(nanoseconds("2.5"), 2'500'000);
  EXPECT_EQ(nanoseconds("0.000001"), 1);
  EXPECT_EQ(nanoseconds("0.1"), 100'000) << "no binary fraction is a tenth";
  EXPECT_EQ(nanoseconds("1234567.654321"), 1'234'567'654'321);
  EXPECT_EQ(nanoseconds("3600000"), 3'600'000'000'000) << "one hour, the most";
}

TEST(Milliseconds, RefuseWhatIsNoPlainDecimalNumber) {
  for (const auto* text : {"",      ".",   "5.",  ".5",   "+5",    "1e3",  "1.0e3", "0x10",
                           "1_000", "1,5", " 5",  "5 ",   "5ms",   "nan",  ".nan",  "inf",
                           ".inf",  "00",  "007", "01.5", "1.2.3", "1.-2", "five",  "\xD9\xA3"}) {
    EXPECT_EQ(nanoseconds(text), std::nullopt) << "'" << text << "'";
  }
}

TEST(Milliseconds, RefuseNegativeNumbersAndNegativeZero) {
  for (const auto* text : {"-1", "-0", "-0.5", "-"}) {
    EXPECT_EQ(nanoseconds(text), std::nullopt) << text;
    EXPECT_EQ(parse_milliseconds(text).problem, "a number of milliseconds that is not negative");
  }
}

TEST(Milliseconds, RefuseFractionsOfANanosecondEvenWhenTheyAreZero) {
  for (const auto* text : {"0.0000001", "1.0000000", "2.1234567"}) {
    EXPECT_EQ(nanoseconds(text), std::nullopt) << text;
  }
}

TEST(Milliseconds, RefuseMoreThanAnHourOfAnyLength) {
  EXPECT_EQ(nanoseconds("3600000.000001"), std::nullopt);
  EXPECT_EQ(nanoseconds("9223372036854775808"), std::nullopt);
  EXPECT_EQ(nanoseconds(std::string(100'000, '9')), std::nullopt);
  EXPECT_EQ(nanoseconds("0." + std::string(100'000, '9')), std::nullopt);
}

/// Returns the shortest text of a time: no trailing zeros, no point without decimals.
std::string shortest(std::int64_t nanoseconds) {
  std::string text = std::to_string(nanoseconds % 1'000'000 + 1'000'000).substr(1);
  while (!text.empty() && text.back() == '0') {
    text.pop_back();
  }
  const std::string whole = std::to_string(nanoseconds / 1'000'000);
  return text.empty() ? whole : whole + "." + text;
}

TEST(Milliseconds, ReadBackEveryTimeAsItWasWritten) {
  // The same every time. NOLINTNEXTLINE(bugprone-random-generator-seed)
  std::mt19937_64 random(20'260'101);
  std::uniform_int_distribution<std::int64_t> any(0, Nanoseconds(kMaxTime).count());
  std::uniform_int_distribution<int> bits(0, 41);
  for (int i = 0; i < 200'000; ++i) {
    const std::int64_t time = any(random) >> bits(random);  // short and long ones
    const std::string text = shortest(time);
    ASSERT_EQ(nanoseconds(text), time) << text;
    const auto point = text.find('.');
    const std::size_t decimals = point == std::string::npos ? 0 : text.size() - point - 1;
    if (decimals == 0 || decimals == 6) {
      continue;
    }
    ASSERT_EQ(nanoseconds(text + "0"), time) << text << ": a trailing zero changes nothing";
  }
}

TEST(Milliseconds, AcceptExactlyTheTextsOfTheGrammar) {
  // An independent implementation of the rule, character by character, on random short texts.
  const auto allowed = [](std::string_view text) {
    std::size_t i = 0;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') {
      ++i;
    }
    if (i == 0 || i > 6) {
      return false;  // six digits are always below an hour
    }
    if (i > 1 && text[0] == '0') {
      return false;
    }
    if (i == text.size()) {
      return true;
    }
    if (text[i] != '.') {
      return false;
    }
    const std::size_t first_decimal = ++i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') {
      ++i;
    }
    return i == text.size() && i > first_decimal && i - first_decimal <= 6;
  };
  // The same every time. NOLINTNEXTLINE(bugprone-random-generator-seed)
  std::mt19937_64 random(7);
  constexpr std::string_view kCharacters = "0012345.9-+e ";
  for (int i = 0; i < 300'000; ++i) {
    std::string text;
    for (std::size_t length = random() % 7; length > 0; --length) {
      text += kCharacters[random() % kCharacters.size()];
    }
    ASSERT_EQ(nanoseconds(text).has_value(), allowed(text)) << "'" << text << "'";
  }
}

}  // namespace
}  // namespace rclrt::yaml
