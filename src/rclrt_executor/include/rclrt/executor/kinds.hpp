// SPDX-License-Identifier: Apache-2.0
// All kinds of executors, and the one way to make one by its name.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "rclrt/executor/edf_executor.hpp"
#include "rclrt/executor/events_executor.hpp"
#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/executor/per_group_executor.hpp"
#include "rclrt/executor/picas_executor.hpp"
#include "rclrt/executor/preemptive_executor.hpp"
#include "rclrt/executor/producer_consumer_executor.hpp"
#include "rclrt/executor/static_order_executor.hpp"
#include "rclrt/executor/thread_dispatch_executor.hpp"
#include "rclrt/executor/wait_set_executor.hpp"
#include "rclrt/executor/workshop_executor.hpp"

namespace rclrt::executor {

/// The options that only one kind has. The other kinds ignore them.
struct KindOptions {
  WaitSetOptions wait_set{};
  EventsOptions events{};
  StaticOrderOptions static_order{};
  WorkshopOptions workshop{};
};

/// Makes the source of a WaitSetExecutor.
using MakeReadinessSource = std::function<std::unique_ptr<ReadinessSource>()>;

/// Returns the names of all kinds of executors, in the order of the registry of executors in
/// rclrt_model, which lists their properties. The first is the baseline. Thread-safe.
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::span<const std::string_view> executor_names() noexcept;

/// Returns an executor of the kind with this name. `make_source` is called only for a
/// WaitSetExecutor. Throws std::invalid_argument for an unknown name, with a list of the known
/// ones, and the exceptions of the constructor of the executor's class. Thread-safe.
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::unique_ptr<Executor> make_executor(
    std::string_view kind, ExecutorOptions options = {}, const KindOptions& kind_options = {},
    const MakeReadinessSource& make_source = {});

}  // namespace rclrt::executor
