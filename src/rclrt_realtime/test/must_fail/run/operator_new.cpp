// SPDX-License-Identifier: Apache-2.0
// A container that grows beyond its reserved capacity.
// REASON: Intercepted call to real-time unsafe function `malloc`
#include <vector>

#include "rclrt/realtime/safety.hpp"

std::vector<int> g_buffer(100);

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  g_buffer.resize(1'000);
#else
  g_buffer.resize(10);
#endif
}

int main() { cycle(); }
