// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/results_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "rclrt/recorder/results_writer.hpp"
#include "sample_results.hpp"
#include "temporary_directory.hpp"

namespace rclrt::recorder {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Property;
using testing::Throws;
using testing::ThrowsMessage;

class Results : public testing::Test {
 protected:
  void run(const std::string& text) const {
    ResultsDirectory results(target_);
    write_text(results.staging() / "results.json", text);
    results.commit();
  }

  const TemporaryDirectory temporary_{"results_directory_test"};
  const std::filesystem::path target_ = temporary_.path() / "out";
};

TEST_F(Results, AppearWhenTheyAreCommitted) {
  ResultsDirectory results(target_);
  write_text(results.staging() / "results.json", "new");
  EXPECT_FALSE(std::filesystem::exists(target_));
  results.commit();
  EXPECT_EQ(content_of(target_ / "results.json"), "new");
  EXPECT_THAT(names_in(temporary_.path()), ElementsAre("out"));
}

TEST_F(Results, AreStagedOnTheFileSystemOfTheTarget) {
  const ResultsDirectory results(target_);
  EXPECT_EQ(results.staging().parent_path(), std::filesystem::canonical(temporary_.path()));
}

TEST_F(Results, LeaveNothingBehindWhenTheyAreNotCommitted) {
  {
    const ResultsDirectory results(target_);
    write_text(results.staging() / "results.json", "half");
  }
  EXPECT_THAT(names_in(temporary_.path()), IsEmpty());
}

TEST_F(Results, ReplaceThoseOfAnEarlierRunWhole) {
  run("old");
  write_text(target_ / "trace.pftrace", "old");
  run("new");
  EXPECT_THAT(names_in(target_), ElementsAre("results.json"));
  EXPECT_EQ(content_of(target_ / "results.json"), "new");
  EXPECT_THAT(names_in(temporary_.path()), ElementsAre("out"));
}

TEST_F(Results, ReplaceAllThatARunWrites) {
  for (int i = 0; i < 2; ++i) {
    ResultsDirectory results(target_);
    write_results(results.staging(), sample_results());
    write_text(results.staging() / kTraceFile, "trace");
    results.commit();
  }
  EXPECT_TRUE(std::filesystem::exists(target_ / kModelFile));
}

TEST_F(Results, KeepThoseOfAnEarlierRunUntilTheyAreCommitted) {
  run("old");
  {
    const ResultsDirectory results(target_);
    write_text(results.staging() / "results.json", "half");
  }
  EXPECT_EQ(content_of(target_ / "results.json"), "old");
}

TEST_F(Results, TakeThePlaceOfAnEmptyDirectory) {
  std::filesystem::create_directory(target_);
  run("new");
  EXPECT_EQ(content_of(target_ / "results.json"), "new");
}

TEST_F(Results, MakeMissingParents) {
  ResultsDirectory results(target_ / "a" / "b");
  results.commit();
  EXPECT_TRUE(std::filesystem::is_directory(target_ / "a" / "b"));
}

TEST_F(Results, GoWhereTheNameWithASlashAtItsEndSays) {
  ResultsDirectory results(target_.string() + "/");
  results.commit();
  EXPECT_TRUE(std::filesystem::is_directory(target_));
}

TEST_F(Results, GoBelowTheCurrentDirectoryWhenTheNameIsRelative) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(temporary_.path());
  ResultsDirectory results("out");
  std::filesystem::current_path(before);  // the target's place was resolved at the start
  results.commit();
  EXPECT_TRUE(std::filesystem::is_directory(target_));
}

TEST_F(Results, GoIntoTheDirectoryThatALinkNames) {
  const std::filesystem::path link = temporary_.path() / "link";
  run("old");
  std::filesystem::create_directory_symlink(target_, link);
  ResultsDirectory results(link);
  write_text(results.staging() / "results.json", "new");
  results.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(content_of(target_ / "results.json"), "new");
}

TEST_F(Results, RefuseADirectoryWithOtherFilesAndNameOne) {
  std::filesystem::create_directory(target_);
  write_text(target_ / "thesis.tex", "precious");
  EXPECT_THAT([&] { ResultsDirectory results(target_); },
              Throws<std::system_error>(
                  Property(&std::system_error::what, HasSubstr("has \"thesis.tex\""))));
  EXPECT_EQ(content_of(target_ / "thesis.tex"), "precious");
}

TEST_F(Results, TakeThePlaceOfARunAndItsReport) {
  run("old");
  for (const char* const name :
       {"report.html", "application.json", "bounds.json", "excesses.csv"}) {
    write_text(target_ / name, "of the old run");
  }
  run("new");
  EXPECT_THAT(names_in(target_), ElementsAre("results.json"));
}

TEST_F(Results, StayBesideTheTargetWhenOtherFilesCameMeanwhile) {
  run("old");
  std::filesystem::path staging;
  {
    ResultsDirectory results(target_);
    staging = results.staging();
    write_text(staging / "results.json", "new");
    write_text(target_ / "thesis.tex", "precious");
    EXPECT_THAT([&] { results.commit(); },
                Throws<std::system_error>(
                    Property(&std::system_error::what,
                             AllOf(HasSubstr(staging.string()), HasSubstr("has \"thesis.tex\"")))));
  }
  EXPECT_EQ(content_of(target_ / "thesis.tex"), "precious");
  EXPECT_EQ(content_of(target_ / "results.json"), "old");
  EXPECT_EQ(content_of(staging / "results.json"), "new");
}

TEST_F(Results, RefuseATargetThatIsAFileOrBelowAFile) {
  write_text(target_, "a file");
  EXPECT_THAT([&] { ResultsDirectory{target_}; },
              ThrowsMessage<std::system_error>(HasSubstr(target_.string() + ": Not a directory")));
  EXPECT_THAT(
      [&] { ResultsDirectory{target_ / "below"}; },
      ThrowsMessage<std::system_error>(HasSubstr(target_.string() + "/below: Not a directory")));
  EXPECT_EQ(content_of(target_), "a file");
}

TEST_F(Results, OfTwoRunsIntoOneTargetAreThoseCommittedLast) {
  ResultsDirectory first(target_);
  ResultsDirectory second(target_);
  EXPECT_NE(first.staging(), second.staging());
  write_text(first.staging() / "results.json", "first");
  write_text(second.staging() / "results.json", "second");
  second.commit();
  first.commit();
  EXPECT_EQ(content_of(target_ / "results.json"), "first");
}

}  // namespace
}  // namespace rclrt::recorder
