// SPDX-License-Identifier: Apache-2.0
#include "rclrt/yaml/document.hpp"

#include <gtest/gtest.h>

namespace rclrt::yaml {
namespace {

struct Outcome {
  std::optional<Node> root;
  std::vector<Diagnostic> diagnostics;
};

Outcome read(std::string_view text) {
  Diagnostics diagnostics;
  auto root = read_yaml(text, diagnostics);
  return {std::move(root), diagnostics.take()};
}

std::string first_error(std::string_view text) {
  const auto outcome = read(text);
  return outcome.diagnostics.empty() ? "no error" : to_string(outcome.diagnostics.front(), "");
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Document, KnowsWhereEveryValueStands) {
  const auto outcome = read("a: 1\nbc:\n  - {d: 'x'}\n");
  ASSERT_TRUE(outcome.root.has_value());
  ASSERT_TRUE(outcome.diagnostics.empty());
  const Node& root = *outcome.root;
  ASSERT_EQ(root.kind, Kind::kMapping);
  ASSERT_EQ(root.children.size(), 4U);
  EXPECT_EQ(root.children[1].kind, Kind::kPlain);
  EXPECT_EQ(root.children[1].at.line, 1U);
  EXPECT_EQ(root.children[1].at.column, 4U);
  const Node& list = root.children[3];
  ASSERT_EQ(list.kind, Kind::kSequence);
  const Node& value = list.children.at(0).children.at(1);
  EXPECT_EQ(value.kind, Kind::kQuoted);
  EXPECT_EQ(value.text, "x");
  EXPECT_EQ(value.at.line, 3U);
  EXPECT_EQ(value.at.column, 9U);
}

TEST(Document, KeepsBlockTextsAsTexts) {
  const auto outcome = read("a: |\n  12\nb: >\n  x\n  y\n");
  ASSERT_TRUE(outcome.root.has_value());
  EXPECT_EQ(outcome.root->children[1].kind, Kind::kQuoted);
  EXPECT_EQ(outcome.root->children[1].text, "12\n");
  EXPECT_EQ(outcome.root->children[3].text, "x y\n");
}

TEST(Document, MayNestUpToTheLimit) {
  EXPECT_TRUE(read(nested(kMaxDepth)).root.has_value());
  EXPECT_EQ(first_error(nested(kMaxDepth + 1)),
            ":1:33: the nesting is too deep; expected at most 32 levels");
}

TEST(Document, EndsTheReadingOfEndlessNestingAtOnce) {
  EXPECT_FALSE(read(std::string(16U << 20U, '[')).root.has_value());
  EXPECT_FALSE(read(std::string(16U << 20U, '{')).root.has_value());
  std::string dashes;
  for (int i = 0; i < 1'000'000; ++i) {
    dashes += "- ";
  }
  EXPECT_FALSE(read(dashes).root.has_value());
}

TEST(Document, HoldsABoundedNumberOfValues) {
  std::string many = "[";
  for (std::size_t i = 0; i < kMaxValues; ++i) {
    many += "a,";
  }
  const auto outcome = read(many + "]");
  EXPECT_FALSE(outcome.root.has_value());
  ASSERT_EQ(outcome.diagnostics.size(), 1U);
  EXPECT_EQ(outcome.diagnostics[0].message,
            "the file holds too many values; expected at most 3000000");
}

TEST(Document, ReportsEveryRepetitionOfAKey) {
  const auto outcome = read("a: 1\nb: 2\na: 3\na: 4\n");
  ASSERT_EQ(outcome.diagnostics.size(), 2U);
  EXPECT_EQ(to_string(outcome.diagnostics[0], ""),
            ":3:1: the key 'a' is given twice; expected each key once (the first is on line 1)");
  EXPECT_EQ(outcome.diagnostics[1].line, 4U);
}

TEST(Document, AcceptsTheSameKeyInDifferentMappings) {
  EXPECT_EQ(first_error("a: {b: 1}\nc: {b: 2}\n"), "no error");
}

TEST(Document, RefusesAnchorsAndTagsOnListsAndMappingsToo) {
  EXPECT_EQ(first_error("a: &x [1]\n"),
            ":1:4: anchors ('&name') are not supported; expected the value alone");
  EXPECT_EQ(first_error("a: !!map {b: 1}\n"),
            ":1:4: tags ('!name') are not supported; expected the value alone");
}

TEST(Document, LocatesABadByteAfterOtherCharacters) {
  EXPECT_EQ(first_error("a: 1\nb: \xC3\xA4\xC3\xA4\xFF\n"),
            ":2:6: the text cannot be read: invalid leading UTF-8 octet; expected UTF-8 without "
            "control characters");
  EXPECT_EQ(first_error("a: \xC3"),
            ":1:4: the text cannot be read: incomplete UTF-8 octet sequence; expected UTF-8 "
            "without control characters");
  EXPECT_EQ(first_error(std::string_view("a: \0b", 5)),
            ":1:4: the text cannot be read: control characters are not allowed; expected UTF-8 "
            "without control characters");
}

TEST(Document, RefusesOtherEncodings) {
  EXPECT_NE(first_error(std::string_view("\xFF\xFE"
                                         "a\0:\0",
                                         6)),
            "no error")
      << "UTF-16";
}

TEST(Document, IsEmptyWithoutADocument) {
  for (const auto* text : {"", "\n\n", "# only a comment\n", "\xEF\xBB\xBF"}) {
    EXPECT_EQ(first_error(text), ":1:1: the file is empty; expected 'rclrt: 1' to begin it");
  }
}

}  // namespace
}  // namespace rclrt::yaml
