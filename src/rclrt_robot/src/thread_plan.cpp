// SPDX-License-Identifier: Apache-2.0
#include "rclrt_robot/thread_plan.hpp"

#include "rclrt/model/thread_plan.hpp"
#include "rclrt/recorder/model_conversion.hpp"

namespace rclrt_robot {

rclrt::realtime::ThreadPlan load_thread_plan(const std::filesystem::path& file) {
  return rclrt::recorder::to_realtime(rclrt::model::load_thread_plan(file));
}

}  // namespace rclrt_robot
