// SPDX-License-Identifier: Apache-2.0
#include "rclrt_robot/thread_plan.hpp"

#include <rmw/rmw.h>

#include "rclrt/model/middleware.hpp"
#include "rclrt/model/thread_plan.hpp"
#include "rclrt/recorder/model_conversion.hpp"

namespace rclrt_robot {

rclrt::realtime::ThreadPlan load_thread_plan(const std::filesystem::path& file) {
  return rclrt::recorder::to_realtime(rclrt::model::for_middleware(
      rclrt::model::load_thread_plan(file), rmw_get_implementation_identifier()));
}

}  // namespace rclrt_robot
