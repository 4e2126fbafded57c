// SPDX-License-Identifier: Apache-2.0
// The function that every Thread starts with.
#pragma once

#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {

struct ThreadEntry {
  static const void* address() { return reinterpret_cast<const void*>(&Thread::entry); }
};

}  // namespace rclrt::realtime
