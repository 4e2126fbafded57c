// SPDX-License-Identifier: Apache-2.0
// REASON: std::atomic of this type takes a lock; share the value in another way
#include "desired_position.hpp"

namespace {
#if defined(WRONG)
using Shared = rclrt::demos::PidConstants;  // three doubles: wider than any atomic instruction
#else
using Shared = double;
#endif
}  // namespace

int main() {
  rclrt::demos::LockFree<Shared> shared;
  shared.store(Shared{});
}
