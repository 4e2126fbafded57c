// SPDX-License-Identifier: Apache-2.0
// How a spin that waits for a future ended.
#pragma once

namespace rclrt::executor {

/// How `spin_until_future_complete` ended.
enum class SpinResult {
  kComplete,     ///< the future is ready
  kTimeout,      ///< it is not, and the time is over
  kInterrupted,  ///< it is not: the spin was cancelled
};

}  // namespace rclrt::executor
