// SPDX-License-Identifier: Apache-2.0
// Conversion of the model to the types of the engine and of rclrt_realtime, which do not depend on
// the model.
#pragma once

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/kinds.hpp"
#include "rclrt/executor/timer.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_choice.hpp"
#include "rclrt/model/thread_plan.hpp"
#include "rclrt/realtime/thread_plan.hpp"
#include "rclrt/recorder/export.hpp"

namespace rclrt::recorder {

/// Converts a value of the model. Thread-safe.
RCLRT_RECORDER_EXPORT executor::Overload to_engine(model::Overload overload) noexcept;
/// Converts a value of the model. Thread-safe.
RCLRT_RECORDER_EXPORT executor::OverrunPolicy to_engine(model::OverrunPolicy policy) noexcept;
/// Converts the options of an executor in the model to options of the engine. If the trigger of a
/// set waits for one callback, it waits for that callback's name, which all of its inputs have.
/// Thread-safe.
RCLRT_RECORDER_EXPORT executor::KindOptions to_engine(const model::ExecutorChoice& choice);
/// Converts a value of the model. Thread-safe.
RCLRT_RECORDER_EXPORT realtime::Scheduling to_realtime(const model::Scheduling& scheduling);
/// Converts a value of the model. Thread-safe.
RCLRT_RECORDER_EXPORT realtime::ThreadPlan to_realtime(const model::ThreadPlan& plan);

}  // namespace rclrt::recorder
