// SPDX-License-Identifier: Apache-2.0
// Saturating sums of times that may be the end of the clock.
#pragma once

#include "rclrt/realtime/duration.hpp"

namespace rclrt::executor {

using realtime::saturating_add;

}  // namespace rclrt::executor
