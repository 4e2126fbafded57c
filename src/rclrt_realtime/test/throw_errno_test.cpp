// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/throw_errno.hpp"

#include <gtest/gtest.h>

namespace rclrt::realtime {
namespace {

template <typename Call>
void expect_error(std::errc expected, const Call& call) {
  try {
    call();
    FAIL() << "nothing was thrown";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), expected);
    EXPECT_EQ(std::string(error.what()).rfind("opening a file: ", 0), 0U) << error.what();
  }
}

TEST(ThrowErrno, HasTheTextAndTheErrorOfTheCall) {
  errno = ENOENT;
  expect_error(std::errc::no_such_file_or_directory, [] { throw_errno("opening a file"); });
}

TEST(ThrowErrno, TakesTheErrorNumberThatACallReturned) {
  errno = ENOENT;
  expect_error(std::errc::permission_denied, [] { throw_errno("opening a file", EACCES); });
}

}  // namespace
}  // namespace rclrt::realtime
