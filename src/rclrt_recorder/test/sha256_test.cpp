// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/sha256.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace rclrt::recorder {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class Sha256 : public testing::Test {
 protected:
  ~Sha256() override { std::filesystem::remove(path_); }

  std::string of(const std::string& content) const {
    std::ofstream(path_, std::ios::binary) << content;
    return sha256_of_file(path_);
  }

  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) / ("sha256_test." + std::to_string(getpid()));
};

// The expected digests are the examples of NIST FIPS 180-4 and its test vectors:
// "abc", the empty message and one million times "a".

TEST_F(Sha256, OfAbcIsThatOfTheStandard) {
  EXPECT_EQ(of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(Sha256, OfAnEmptyFileIsThatOfTheStandard) {
  EXPECT_EQ(of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_F(Sha256, OfAFileOfManyBlocksIsThatOfTheStandard) {
  EXPECT_EQ(of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_F(Sha256, OfAMissingFileIsAnErrorThatNamesIt) {
  try {
    sha256_of_file(path_ / "none");
    FAIL() << "expected std::system_error";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr((path_ / "none").string()));
  }
}

TEST_F(Sha256, OfADirectoryIsAnError) {
  EXPECT_THAT([&] { sha256_of_file(testing::TempDir()); },
              ThrowsMessage<std::system_error>(
                  HasSubstr("cannot read " + testing::TempDir() + ": Is a directory")));
}

}  // namespace
}  // namespace rclrt::recorder
