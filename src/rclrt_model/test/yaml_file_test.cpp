// SPDX-License-Identifier: Apache-2.0
#include "rclrt/yaml/file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "rclrt/yaml/document.hpp"

namespace rclrt::yaml {
namespace {

std::string refusal(const std::filesystem::path& file) {
  try {
    read_file(file, "plan.yaml");
  } catch (const FileError& error) {
    return error.what();
  }
  return "no error";
}

TEST(File, ThatIsMissingIsNamedWithWhatIsExpected) {
  EXPECT_EQ(refusal("/no/such/file"),
            "/no/such/file: the file cannot be read: No such file or directory; expected a "
            "readable plan.yaml");
}

TEST(File, ThatIsADirectoryIsRefused) {
  EXPECT_EQ(refusal("/"),
            "/: the file cannot be read: it is a directory; expected a readable plan.yaml");
}

TEST(File, ThatNeverEndsIsReadOnlyAsFarAsIsNeededToRefuseIt) {
  const std::string text = read_file("/dev/zero", "plan.yaml");
  EXPECT_EQ(text.size(), kMaxInputBytes + 1);
  Diagnostics diagnostics;
  EXPECT_FALSE(read_yaml(text, diagnostics).has_value());
  EXPECT_EQ(to_string(diagnostics.take().at(0), "plan.yaml"),
            "plan.yaml:1:1: the file is larger than 16 MiB; expected at most 16777216 bytes");
}

TEST(File, GivesItsBytes) {
  const auto file = std::filesystem::path(testing::TempDir()) / "rclrt_yaml_file_test.yaml";
  const std::string bytes("a: 1\r\n\0b", 8);
  std::ofstream(file, std::ios::binary) << bytes;
  EXPECT_EQ(read_file(file, "plan.yaml"), bytes);
  std::filesystem::remove(file);
}

TEST(FileError, HasALineForEachProblem) {
  EXPECT_STREQ(FileError("a.yaml", {{1, 2, "x; expected y"}, {3, 4, "z; expected y"}}).what(),
               "a.yaml:1:2: x; expected y\na.yaml:3:4: z; expected y");
}

}  // namespace
}  // namespace rclrt::yaml
