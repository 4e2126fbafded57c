// SPDX-License-Identifier: Apache-2.0
// The list of threads when the directory of /proc cannot be read to its end.
#include <dirent.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"

namespace {

int entries_until_error = -1;  // negative: no error

}  // namespace

/// Interposes the C library's: fails as if the directory vanished while it is read.
extern "C" __attribute__((visibility("default"))) dirent* readdir(DIR* directory) {
  static const auto kReal = reinterpret_cast<dirent* (*)(DIR*)>(dlsym(RTLD_NEXT, "readdir"));
  if (entries_until_error == 0) {
    errno = EIO;
    return nullptr;
  }
  if (entries_until_error > 0) {
    --entries_until_error;
  }
  return kReal(directory);
}

namespace rclrt::realtime {
namespace {

TEST(ThreadIds, OfADirectoryThatFailsAreThoseReadUntilThen) {
  const Thread other({.name = "other"}, [](const StopFlag& stop) { stop.wait(); });
  ASSERT_GE(thread_ids().size(), 2U);
  for (int entries = 0; entries <= 4; ++entries) {  // "." and ".." among them
    entries_until_error = entries;
    const auto ids = thread_ids();
    EXPECT_LE(ids.size(), static_cast<std::size_t>(entries));
    EXPECT_EQ(entries_until_error, 0) << "the failure was not met";
  }
  entries_until_error = -1;
}

}  // namespace
}  // namespace rclrt::realtime
