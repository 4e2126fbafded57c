// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/picas_executor.hpp"

#include <utility>

#include "engine.hpp"
#include "kinds/kind.hpp"
#include "lane_dispatcher.hpp"
#include "run_to_completion.hpp"

namespace rclrt::executor {

PicasExecutor::PicasExecutor(ExecutorOptions options)
    : Executor(Engine::with<LaneDispatcher>(to_completion(std::move(options), "picas"))) {}

constinit const Kind kinds::kPicas{"picas", &make_kind<PicasExecutor>};

}  // namespace rclrt::executor
