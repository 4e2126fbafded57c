// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/boot_number.hpp"

#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace rclrt::realtime {
namespace {

std::string file_with(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(testing::TempDir()) / name;
  std::ofstream(path) << text;
  return path.string();
}

TEST(BootNumber, IsTheHashOfTheKernelsId) {
  // FNV-1a with 64 bits of "a": draft-eastlake-fnv, test vectors.
  EXPECT_EQ(boot_number_of_file(file_with("boot_id", "a\n").c_str()), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(boot_number(), boot_number());
}

TEST(BootNumber, IsThatOfTheHostsNameIfTheKernelHasNoId) {
  utsname names{};
  ASSERT_EQ(uname(&names), 0);
  const auto expected = boot_number(names.nodename);
  EXPECT_EQ(boot_number_of_file("/no/such/file"), expected);
  EXPECT_EQ(boot_number_of_file(file_with("empty", "").c_str()), expected);
}

}  // namespace
}  // namespace rclrt::realtime
