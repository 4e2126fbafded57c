// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/replacing_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <system_error>

namespace rclrt::realtime {
namespace {

namespace fs = std::filesystem;

class AReplacingFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "replacing-XXXXXX";
    directory = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(directory); }

  static std::string content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::set<std::string> names() const {
    std::set<std::string> result;
    for (const auto& each : fs::directory_iterator(directory)) {
      result.insert(each.path().filename());
    }
    return result;
  }

  fs::path directory;
};

TEST_F(AReplacingFile, TakesItsNameWhenItIsComplete) {
  std::ofstream(directory / "out") << "before";
  {
    ReplacingFile file(directory / "out");
    file.write("one ");
    file.write("two");
    EXPECT_EQ(content(directory / "out"), "before");
    file.commit();
  }
  EXPECT_EQ(content(directory / "out"), "one two");
  EXPECT_EQ(names(), std::set<std::string>{"out"});
}

TEST_F(AReplacingFile, LeavesNothingWithoutCommit) {
  {
    ReplacingFile(directory / "out").write("lost");
  }
  EXPECT_TRUE(names().empty());
}

TEST_F(AReplacingFile, HasAnotherNameEachTimeUntilThen) {
  std::set<std::string> seen;
  for (int i = 0; i < 3; ++i) {
    const ReplacingFile file(directory / "out");
    const auto now = names();
    ASSERT_EQ(now.size(), 1U);
    EXPECT_FALSE(now.begin()->starts_with("out." + std::to_string(getpid()) + "."));
    seen.insert(*now.begin());
  }
  EXPECT_EQ(seen.size(), 3U);
}

TEST_F(AReplacingFile, ReplacesALinkAndNotWhatItLeadsTo) {
  std::ofstream(directory / "victim") << "untouched";
  fs::create_symlink(directory / "victim", directory / "out");
  ReplacingFile file(directory / "out");
  file.write("new");
  file.commit();
  EXPECT_EQ(content(directory / "victim"), "untouched");
  EXPECT_FALSE(fs::is_symlink(directory / "out"));
  EXPECT_EQ(content(directory / "out"), "new");
}

/// Returns the error's text.
std::string refusal(const fs::path& path) {
  try {
    const ReplacingFile file(path);
  } catch (const WriteError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(AReplacingFile, RefusesWhatCannotBeReplacedWithItsPlaceAndTheFix) {
  const fs::path nowhere = directory / "none" / "out";
  EXPECT_EQ(refusal(nowhere), "cannot write " + nowhere.string() +
                                  ": No such file or directory; expected a file in a directory "
                                  "that exists and may be written");
  fs::create_directory(directory / "folder");
  EXPECT_EQ(refusal(directory / "folder"),
            "cannot write " + (directory / "folder").string() +
                ": is a directory; expected a regular file or a new name");
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(directory / "pipe"), "cannot write " + (directory / "pipe").string() +
                                             ": is a FIFO; expected a regular file or a new name");
}

TEST_F(AReplacingFile, HasAStreamForTextsOfAnyLength) {
  std::string text;
  ReplacingFile file(directory / "out");
  for (int i = 0; i < 20'000; ++i) {
    text += std::to_string(i) + "\n";
    file.stream() << i << '\n';
  }
  file.commit();
  EXPECT_EQ(content(directory / "out"), text);
}

TEST_F(AReplacingFile, ReportsAFailedWriteOfItsStreamAndKeepsTheOldFile) {
  std::ofstream(directory / "out") << "before";
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  std::error_code code;
  try {
    ReplacingFile file(directory / "out");
    file.stream() << std::string(100'000, 'x');
    file.commit();
  } catch (const WriteError& error) {
    code = error.code();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old);
  EXPECT_EQ(code, std::errc::file_too_large);
  EXPECT_EQ(content(directory / "out"), "before");
  EXPECT_EQ(names(), std::set<std::string>{"out"});
}

}  // namespace
}  // namespace rclrt::realtime
