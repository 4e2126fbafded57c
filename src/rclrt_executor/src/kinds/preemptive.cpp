// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/preemptive_executor.hpp"

#include <utility>

#include "engine.hpp"
#include "kinds/kind.hpp"
#include "lane_dispatcher.hpp"

namespace rclrt::executor {

PreemptiveExecutor::PreemptiveExecutor(ExecutorOptions options)
    : Executor(Engine::with<LaneDispatcher>(std::move(options))) {}

constinit const Kind kinds::kPreemptive{"preemptive", &make_kind<PreemptiveExecutor>};

}  // namespace rclrt::executor
