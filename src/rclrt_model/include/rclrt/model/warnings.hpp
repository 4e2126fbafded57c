// SPDX-License-Identifier: Apache-2.0
// Settings that are valid, but delay messages or callbacks in a way that is rarely intended. All
// functions may be called from several threads at once.
#pragma once

#include <string>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_kind.hpp"
#include "rclrt/model/export.hpp"
#include "rclrt/model/host.hpp"
#include "rclrt/model/robot.hpp"

namespace rclrt::model {

/// Returns whether the middleware's threads run above all threads of executors.
RCLRT_MODEL_EXPORT bool middleware_is_above(const Application& application);

/// Returns one sentence with its fix for each of these: callbacks need more CPU time than their
/// CPUs have; messages of another process may wait for callbacks; callbacks with different
/// priorities share a kernel priority (order_warnings() for `preemptive`).
RCLRT_MODEL_EXPORT std::vector<std::string> warnings(const Application& application);

/// Returns at most one sentence about the order of callbacks under this kind of executor. With a
/// kernel priority for each level: callbacks with different priorities, in executors that may share
/// a CPU, have the same kernel priority. With deadlines: callbacks of chains state none.
RCLRT_MODEL_EXPORT std::vector<std::string> order_warnings(const Application& application,
                                                           ExecutorKind kind);

/// Returns a sentence with its fix if the executor has real-time callbacks and no rule puts the
/// middleware's receiving threads above them. Callbacks with a priority that only code or a launch
/// file states are not known here.
RCLRT_MODEL_EXPORT std::vector<std::string> warnings(const Robot& robot);

/// Returns the sentences of each process, with the name of the process.
RCLRT_MODEL_EXPORT std::vector<std::string> warnings(const Host& host);

}  // namespace rclrt::model
