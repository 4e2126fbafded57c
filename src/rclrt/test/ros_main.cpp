// SPDX-License-Identifier: Apache-2.0
// The main function of tests that use ROS. When a process exits, the destructor of Fast DDS's
// DomainParticipantFactory sleeps for 100 ms. Each of these tests is a process of its own, so it
// ends without the destructors of static objects. They run under a sanitizer, which reports at the
// exit.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  const int result = RUN_ALL_TESTS();
#ifdef RCLRT_SANITIZED
  return result;
#else
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(result);
#endif
}
