// SPDX-License-Identifier: Apache-2.0
// Random numbers for tests.
#pragma once

#include <random>

namespace rclrt::recorder {

/// Returns the same numbers in every run, so that a failing property can be reproduced.
inline std::mt19937 repeatable_random(unsigned seed) { return std::mt19937(seed); }

}  // namespace rclrt::recorder
