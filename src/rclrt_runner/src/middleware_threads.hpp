// SPDX-License-Identifier: Apache-2.0
// Scheduling of the threads that the middleware created.
#pragma once

#include <optional>
#include <rclrt/model/application.hpp>
#include <rclrt/realtime/thread_plan.hpp>
#include <string>

namespace rclrt::runner {

/// The threads of the middleware: those that were started between the constructor and `apply` and
/// that are not rclrt's own.
class MiddlewareThreads {
 public:
  /// Applies the application's rule for "middleware" to the threads, if it has such a rule, and
  /// reads their scheduling back from the kernel. Returns std::nullopt if all threads have the
  /// stated scheduling; otherwise the first difference and its fix.
  std::optional<std::string> apply(const model::Application& application) const;

 private:
  const realtime::ThreadsBefore before_;
};

}  // namespace rclrt::runner
