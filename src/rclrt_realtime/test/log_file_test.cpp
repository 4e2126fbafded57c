// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "rclrt/realtime/logging.hpp"

namespace rclrt::realtime {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class ATextFile : public testing::Test {
 protected:
  ~ATextFile() override { std::filesystem::remove(path_); }
  std::string content() const {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  const std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                      ("logging_test." + std::to_string(getpid()) + ".log");
};

TEST_F(ATextFile, HasOneLinePerCallInTheFormatOfRos) {
  FileLog file(path_);
  file.write({.level = LogLevel::kWarn,
              .wall_ns = 1'732'231'702'000'000'789,
              .thread = "control",
              .message = "late by 27 us"});
  file.flush();
  EXPECT_EQ(content(), "[WARN] [1732231702.000000789] [control]: late by 27 us\n");
}

TEST_F(ATextFile, IsAppendedTo) {
  std::ofstream(path_) << "earlier\n";
  {
    FileLog file(path_);
    Logger logger({file});
    ThreadLogger(logger, "control").info("{}", 1);
  }
  EXPECT_THAT(content(), testing::StartsWith("earlier\n[INFO] ["));
  EXPECT_THAT(content(), EndsWith("[control]: 1\n"));
}

TEST(FileLog, NamesAFileItCannotOpen) {
  try {
    FileLog file("/nonexistent/x.log");
    FAIL() << "no exception";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nonexistent/x.log"));
  }
}

TEST(FileLog, ReportsWhatItCannotWriteAndGoesOn) {
  FileLog full("/dev/full");
  Logger logger({full}, {.period = std::chrono::hours(1)});
  ThreadLogger log(logger, "control");
  log.info("lost");
  logger.flush();
  EXPECT_EQ(logger.statistics().sink_errors, 1U);
  EXPECT_THAT(logger.statistics().last_error, HasSubstr("/dev/full"));
  log.info("lost, too");
  logger.flush();
  EXPECT_EQ(logger.statistics().sink_errors, 2U);
}

}  // namespace
}  // namespace rclrt::realtime
