// SPDX-License-Identifier: Apache-2.0
/// Each application in broken_applications.txt causes the errors that are stated there, and no
/// other. Without its mistakes it has none.
#include "broken_applications.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "rclrt/model/parse.hpp"

namespace rclrt::model {
namespace {

using test::broken_applications;
using test::BrokenApplication;
using testing::HasSubstr;

std::vector<std::string> errors_of(const std::string& text) {
  std::vector<std::string> errors;
  for (const Diagnostic& diagnostic : parse_application(text).diagnostics) {
    errors.push_back(to_string(diagnostic, "").substr(1));
  }
  return errors;
}

class Broken : public testing::TestWithParam<BrokenApplication> {};

TEST_P(Broken, GivesItsExpectedErrorsAndNoApplication) {
  ASSERT_FALSE(GetParam().errors.empty()) << GetParam().name << " states no expected error";
  EXPECT_EQ(errors_of(GetParam().text), GetParam().errors);
  EXPECT_FALSE(parse_application(GetParam().text).application.has_value());
}

TEST_P(Broken, SaysInEveryErrorWhatWasExpected) {
  for (const std::string& error : GetParam().errors) {
    EXPECT_THAT(error, HasSubstr("; expected "));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Broken, testing::ValuesIn(broken_applications().cases),
                         [](const auto& test) { return test.param.name; });

TEST(BrokenApplications, ChangeApplicationsWithoutAMistake) {
  std::size_t valid = 0;
  for (const auto& [name, text] : broken_applications().bases) {
    if (!text.empty()) {
      EXPECT_EQ(errors_of(text), std::vector<std::string>()) << name;
      ++valid;
    }
  }
  EXPECT_EQ(valid, 5U);
}

TEST(BrokenApplications, HaveEachAMessageOfTheirOwn) {
  std::map<std::vector<std::string>, std::string> seen;
  for (const BrokenApplication& each : broken_applications().cases) {
    std::vector<std::string> messages;
    for (const Diagnostic& diagnostic : parse_application(each.text).diagnostics) {
      messages.push_back(diagnostic.message);
    }
    const auto [first, inserted] = seen.try_emplace(messages, each.name);
    EXPECT_TRUE(inserted) << each.name << " has the messages of " << first->second;
  }
  EXPECT_EQ(seen.size(), 176U);
}

}  // namespace
}  // namespace rclrt::model
