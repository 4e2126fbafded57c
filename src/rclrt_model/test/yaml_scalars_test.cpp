// SPDX-License-Identifier: Apache-2.0
#include "rclrt/yaml/scalars.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace rclrt::yaml {
namespace {

Node plain(std::string text) { return {Kind::kPlain, {}, std::move(text), {}}; }
Node in_text_quotes(std::string text) { return {Kind::kQuoted, {}, std::move(text), {}}; }

std::optional<std::int64_t> integer(const Node& node) {
  Context context;
  constexpr IntegerRange kAll{std::numeric_limits<std::int64_t>::min(),
                              std::numeric_limits<std::int64_t>::max()};
  const auto value = read_integer(node, "it", kAll, context);
  EXPECT_EQ(value.has_value(), context.diagnostics.empty());
  return value;
}

TEST(Integer, IsReadExactlyUpToTheLimitsOfTheType) {
  EXPECT_EQ(integer(plain("0")), 0);
  EXPECT_EQ(integer(plain("-17")), -17);
  EXPECT_EQ(integer(plain("9223372036854775807")), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(integer(plain("-9223372036854775808")), std::numeric_limits<std::int64_t>::min());
}

TEST(Integer, IsRefusedInEveryOtherNotation) {
  for (const auto* text : {"", "-", "+1", "01", "-01", "1.0", "1e3", "0x1F", "0o17", "1_000", " 1",
                           "1 ", "9223372036854775808", "one", "~"}) {
    EXPECT_EQ(integer(plain(text)), std::nullopt) << "'" << text << "'";
  }
  EXPECT_EQ(integer(in_text_quotes("1")), std::nullopt);
}

std::optional<std::string> text_of(const Node& node) {
  Context context;
  auto value = read_text(node, "it", context);
  EXPECT_EQ(value.has_value(), context.diagnostics.empty());
  return value;
}

TEST(Text, IsRefusedWithoutQuotesWhereYamlReadersDisagree) {
  for (const auto* text :
       {"",   "~",   "null", "Null", "true", "FALSE",  "yes",   "No",   "ON",    "off", "12",
        "-1", "1.5", "1e3",  "+.5",  ".5",   "-.5e-3", "1_000", ".inf", "-.INF", ".NaN"}) {
    EXPECT_EQ(text_of(plain(text)), std::nullopt) << "'" << text << "'";
    EXPECT_EQ(text_of(in_text_quotes(text)), text);
  }
}

TEST(Text, MayContainWordsThatAreReservedAlone) {
  for (const auto* text :
       {"nullify", "on the road", "e", "1.5 ms", "a1", "no_entry", "e0", "E12", "_1", "-e1"}) {
    EXPECT_EQ(text_of(plain(text)), text);
  }
}

}  // namespace
}  // namespace rclrt::yaml
