// SPDX-License-Identifier: Apache-2.0
/// Every file in broken/ begins with a comment "# expect: line:column: message" for each error that
/// it must cause, and causes no other.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "rclrt/model/parse.hpp"
#include "test_files.hpp"

namespace rclrt::model {
namespace {

std::vector<std::string> expected_errors(const std::string& text) {
  constexpr std::string_view kPrefix = "# expect: ";
  std::vector<std::string> errors;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line.starts_with(kPrefix);) {
    errors.push_back(line.substr(kPrefix.size()));
  }
  return errors;
}

std::vector<std::string> actual_errors(const std::string& text) {
  std::vector<std::string> errors;
  for (const Diagnostic& diagnostic : parse_application(text).diagnostics) {
    errors.push_back(to_string(diagnostic, "").substr(1));
  }
  return errors;
}

class BrokenFile : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(BrokenFile, GivesItsExpectedErrorsAndNoApplication) {
  const std::string text = test::read_file(GetParam());
  const auto expected = expected_errors(text);
  ASSERT_FALSE(expected.empty()) << GetParam() << " states no expected error";
  EXPECT_EQ(actual_errors(text), expected);
  EXPECT_FALSE(parse_application(text).application.has_value());
}

TEST_P(BrokenFile, SaysInEveryErrorWhatWasExpected) {
  for (const Diagnostic& diagnostic : parse_application(test::read_file(GetParam())).diagnostics) {
    EXPECT_NE(diagnostic.message.find("; expected "), std::string::npos) << diagnostic.message;
  }
}

INSTANTIATE_TEST_SUITE_P(All, BrokenFile, testing::ValuesIn(test::broken_files()),
                         [](const auto& file) { return file.param.stem().string(); });

TEST(BrokenFiles, HaveEachAMessageOfTheirOwn) {
  std::map<std::vector<std::string>, std::filesystem::path> seen;
  for (const auto& file : test::broken_files()) {
    std::vector<std::string> messages;
    for (const Diagnostic& diagnostic : parse_application(test::read_file(file)).diagnostics) {
      messages.push_back(diagnostic.message);
    }
    const auto [first, inserted] = seen.try_emplace(messages, file);
    EXPECT_TRUE(inserted) << file << " says the same as " << first->second;
  }
  EXPECT_GE(seen.size(), 100U);
}

}  // namespace
}  // namespace rclrt::model
