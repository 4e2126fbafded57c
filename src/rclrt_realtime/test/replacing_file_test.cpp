// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/replacing_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <system_error>

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

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

TEST_F(AReplacingFile, RefusesWhatCannotBeReplaced) {
  EXPECT_THAT([&] { ReplacingFile(directory / "none" / "out"); },
              ThrowsMessage<std::system_error>(HasSubstr("none/out: No such file or directory")));
  fs::create_directory(directory / "folder");
  EXPECT_THAT([&] { ReplacingFile(directory / "folder"); },
              ThrowsMessage<std::system_error>(HasSubstr("folder: is a directory")));
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_THAT([&] { ReplacingFile(directory / "pipe"); },
              ThrowsMessage<std::system_error>(HasSubstr("pipe: is a FIFO")));
}

}  // namespace
}  // namespace rclrt::realtime
