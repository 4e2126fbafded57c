// SPDX-License-Identifier: Apache-2.0
// A component with more timers than there are SCHED_FIFO priorities for levels: an executor cannot
// accept it if the file gives each timer its own priority.
#include <chrono>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/register_node_macro.hpp>
#include <vector>

namespace rclrt_robot::test {

class ManyTimers : public rclcpp::Node {
 public:
  explicit ManyTimers(const rclcpp::NodeOptions& options) : Node("many_timers", options) {
    for (int i = 0; i < 100; ++i) {
      timers_.push_back(create_wall_timer(std::chrono::hours(1), [] {}));
    }
  }

 private:
  std::vector<rclcpp::TimerBase::SharedPtr> timers_;
};

}  // namespace rclrt_robot::test

RCLCPP_COMPONENTS_REGISTER_NODE(rclrt_robot::test::ManyTimers)
