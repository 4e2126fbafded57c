// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "rclrt/workloads/workload.hpp"

namespace rclrt::workloads {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class Imported : public testing::Test {
 protected:
  void SetUp() override { set_path("/nowhere::" COUNTING_PROGRAM_DIRECTORY); }
  void TearDown() override { ::unsetenv("RCLRT_WORKLOAD_PATH"); }
  static void set_path(const std::string& path) {
    ::setenv("RCLRT_WORKLOAD_PATH", path.c_str(), 1);
  }
};

TEST_F(Imported, EachHasTheGlobalVariablesForItself) {
  const auto one = make("counting_program");
  const auto other = make("counting_program");
  EXPECT_EQ(one->run(), 1U);
  EXPECT_EQ(one->run(), 2U);
  EXPECT_EQ(other->run(), 1U);
  EXPECT_EQ(one->run(), 3U);
}

TEST_F(Imported, AnUnknownOneIsRefusedWithWhatThereIs) {
  for (const char* name : {"absent", "", "../counting_program", "a b"}) {
    EXPECT_THAT([&] { make(name); }, ThrowsMessage<std::invalid_argument>(
                                         HasSubstr("unknown workload '" + std::string(name) +
                                                   "'; expected one of adpcm, chacha,")));
  }
}

TEST_F(Imported, AFileThatIsNoneSaysSo) {
  const auto directory = std::filesystem::path(testing::TempDir()) / "rclrt_imported_test";
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "broken.so") << "no library";
  set_path(directory.string());
  EXPECT_THAT([&] { make("broken"); }, ThrowsMessage<std::runtime_error>(HasSubstr("broken.so: ")));
  std::filesystem::remove_all(directory);
}

TEST_F(Imported, ALibraryWithoutTheEntryIsRefused) {
  const auto directory = std::filesystem::path(testing::TempDir()) / "rclrt_entry_test";
  std::filesystem::create_directories(directory);
  // A library that the loader takes; it refuses a program before it looks for the entry.
  void* const library = ::dlopen("libm.so.6", RTLD_NOW);
  ASSERT_NE(library, nullptr);
  link_map* map = nullptr;
  ASSERT_EQ(::dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)), 0);
  std::filesystem::copy_file(map->l_name, directory / "other.so",
                             std::filesystem::copy_options::overwrite_existing);
  ::dlclose(library);
  set_path(directory.string());
  EXPECT_THAT(
      [&] { make("other"); },
      ThrowsMessage<std::runtime_error>(HasSubstr("other.so: has no symbol rclrt_workload_main")));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace rclrt::workloads
