// SPDX-License-Identifier: Apache-2.0
// A std::string may allocate.
// REASON: must not call non-'nonblocking' constructor 'std::basic_string<char>::basic_string
#include <string>
#include <string_view>

#include "rclrt/realtime/safety.hpp"

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  const std::string copied("a name longer than what fits into a string itself");
#else
  [[maybe_unused]] const std::string_view viewed(
      "a name longer than what fits into a string itself");
#endif
}
