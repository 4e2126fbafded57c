// SPDX-License-Identifier: Apache-2.0
// How a spin that waits for a future ended.
#pragma once

namespace rclrt::executor {

/// How `spin_until_future_complete` ended.
enum class SpinResult {
  kComplete,     ///< the future is ready
  kTimeout,      ///< the future is not ready, and the timeout has passed
  kInterrupted,  ///< the future is not ready, and the spin was cancelled
};

}  // namespace rclrt::executor
