// SPDX-License-Identifier: Apache-2.0
// What files need to know of each middleware: the only place that names its threads.
#pragma once

#include <span>
#include <string_view>

#include "rclrt/model/export.hpp"
#include "rclrt/model/thread_plan.hpp"

namespace rclrt::model {

/// A middleware, and how a thread plan recognises its threads.
struct Middleware {
  std::string_view rmw;       ///< the name of its package, as in RMW_IMPLEMENTATION
  std::string_view name;      ///< for readers: "Cyclone DDS"
  std::string_view library;   ///< pattern of the library that has the code of its threads
  std::string_view receiver;  ///< a thread that receives messages of other processes, its name
  std::string_view file;      ///< the library of that thread
  std::string_view function;  ///< the function that this thread was started to run
};

/// Returns the middlewares of which the threads are known. Thread-safe.
RCLRT_MODEL_EXPORT std::span<const Middleware> middlewares();

/// Returns whether the rule is for all threads of the middleware: its name is "middleware", and it
/// states neither `library` nor `function`.
RCLRT_MODEL_EXPORT bool is_of_middleware(const ThreadRule& rule);

/// Returns the plan with the library of the middleware's threads in each rule that is for these
/// threads. `rmw` is the middleware that runs. Throws std::invalid_argument with the fix if the
/// plan has such a rule and the threads of this middleware are not known. Thread-safe.
RCLRT_MODEL_EXPORT ThreadPlan for_middleware(ThreadPlan plan, std::string_view rmw);

}  // namespace rclrt::model
