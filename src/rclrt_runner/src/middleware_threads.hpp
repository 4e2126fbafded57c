// SPDX-License-Identifier: Apache-2.0
// Scheduling of the threads that the middleware created.
#pragma once

#include <optional>
#include <rclrt/model/application.hpp>
#include <rclrt/realtime/thread_plan.hpp>
#include <string>

namespace rclrt::runner {

/// Knows the threads that came into being between construction and `apply`, and are not rclrt's
/// own: those of the middleware.
class MiddlewareThreads {
 public:
  /// Gives them what the application's rule for "middleware" states, if it has one, and then asks
  /// the kernel what they really have. Nothing when all is as stated; otherwise the first that is
  /// not, and the fix.
  std::optional<std::string> apply(const model::Application& application) const;

 private:
  const realtime::ThreadsBefore before_;
};

}  // namespace rclrt::runner
