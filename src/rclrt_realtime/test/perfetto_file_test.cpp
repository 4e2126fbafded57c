// SPDX-License-Identifier: Apache-2.0
// A trace as a file: it appears whole, or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "perfetto_process.hpp"
#include "rclrt/realtime/perfetto_writer.hpp"

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class PerfettoFile : public testing::Test {
 protected:
  PerfettoFile() { std::filesystem::create_directory(directory_); }
  ~PerfettoFile() override { std::filesystem::remove_all(directory_); }

  int files() const {
    return static_cast<int>(std::distance(std::filesystem::directory_iterator(directory_),
                                          std::filesystem::directory_iterator()));
  }

  std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::filesystem::path directory_ = std::filesystem::path(testing::TempDir()) /
                                           ("perfetto_file_test." + std::to_string(getpid()));
  const std::filesystem::path path_ = directory_ / "trace.pftrace";
};

TEST_F(PerfettoFile, AppearsWholeWhenTheTraceIsFinished) {
  PerfettoWriter writer(path_, process(), kClocks);
  EXPECT_FALSE(std::filesystem::exists(path_));
  writer.finish();
  std::ostringstream same;
  PerfettoWriter(same, process(), kClocks).finish();
  EXPECT_EQ(content(), same.str());
  EXPECT_EQ(files(), 1);
}

TEST_F(PerfettoFile, KeepsItsOldContentWhenTheTraceIsNotFinished) {
  std::ofstream(path_) << "old";
  {
    PerfettoWriter writer(path_, process(), kClocks);
  }
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(PerfettoFile, IsReplacedByANewTrace) {
  std::ofstream(path_) << "old";
  PerfettoWriter(path_, process(), kClocks).finish();
  EXPECT_THAT(content(), HasSubstr("app"));
}

TEST_F(PerfettoFile, IsRefusedWithItsNameWhenItsDirectoryDoesNotExist) {
  const std::filesystem::path nowhere = directory_ / "none" / "trace.pftrace";
  EXPECT_THAT([&] { PerfettoWriter writer(nowhere, process(), kClocks); },
              ThrowsMessage<std::system_error>(HasSubstr("cannot write " + nowhere.string())));
}

TEST_F(PerfettoFile, IsRefusedWhereSomethingElseThanAFileIsAndThatStays) {
  const std::filesystem::path link = directory_ / "link";
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  std::filesystem::create_symlink(path_, link);
  for (const auto& each :
       {std::pair(path_, "FIFO"), std::pair(link, "FIFO"), std::pair(directory_, "directory")}) {
    const std::string said = "cannot write " + each.first.string() + ": is a " + each.second +
                             "; expected a regular file or a new name";
    EXPECT_THAT([&] { PerfettoWriter writer(each.first, process(), kClocks); },
                ThrowsMessage<std::system_error>(HasSubstr(said)));
  }
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(files(), 2);
}

TEST_F(PerfettoFile, MayTakeThePlaceOfALinkToAFileOrToNothing) {
  const std::filesystem::path old = directory_ / "old";
  std::filesystem::create_symlink(old, path_);
  PerfettoWriter(path_, process(), kClocks).finish();
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path_)));
  std::filesystem::remove(path_);
  std::ofstream(old) << "old";
  std::filesystem::create_symlink(old, path_);
  PerfettoWriter(path_, process(), kClocks).finish();
  EXPECT_THAT(content(), HasSubstr("app"));
}

TEST_F(PerfettoFile, StaysAbsentWhenTheDiskIsFull) {
  // A limit on the file size simulates a full disk: write() fails in the middle.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = 100'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  int error = 0;
  try {
    PerfettoWriter writer(path_, process(), kClocks);
    for (std::int64_t time = 0; time < 10'000; ++time) {  // at least 15 bytes each
      writer.instant(writer.process_track(), time, {.name = "n"});
    }
    writer.finish();
  } catch (const std::system_error& failure) {
    error = failure.code().value();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error, EFBIG);
  EXPECT_EQ(files(), 0);
}

TEST(PerfettoStream, ReportsAStreamThatTakesNoMore) {
  std::ofstream full("/dev/full", std::ios::binary);
  ASSERT_TRUE(full.is_open());
  PerfettoWriter writer(full, process(), kClocks);
  EXPECT_THAT(
      [&] { writer.finish(); },
      ThrowsMessage<std::system_error>(HasSubstr("cannot write the Perfetto trace to its stream")));
}

}  // namespace
}  // namespace rclrt::realtime
