// SPDX-License-Identifier: Apache-2.0
// Scheduling of the threads that the middleware created.
#pragma once

#include <optional>
#include <rclrt/model/application.hpp>
#include <rclrt/realtime/thread_plan.hpp>
#include <string>

namespace rclrt::runner {

/// Knows the threads that started between construction and `apply` and are not rclrt's own: those
/// of the middleware.
class MiddlewareThreads {
 public:
  /// Applies the application's rule for "middleware" to the threads, if it has one, and reads the
  /// result back from the kernel. Returns std::nullopt if all is as stated; otherwise the first
  /// difference, and the fix.
  std::optional<std::string> apply(const model::Application& application) const;

 private:
  const realtime::ThreadsBefore before_;
};

}  // namespace rclrt::runner
