# SPDX-License-Identifier: Apache-2.0
"""Nav2 from planner to cmd_vel in one process, in rclrt's container or in the stock one.

ros2 launch examples/nav2/nav2.launch.py                   rclrt's container
ros2 launch examples/nav2/nav2.launch.py container:=stock  rclcpp_components' container

Only the container's package, executable and parameters differ, below.
"""

from pathlib import Path
from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import ComposableNodeContainer
from launch_ros.descriptions import ComposableNode

HERE = Path(__file__).parent
PARAMETERS = str(HERE / "nav2.yaml")
NODES = {
    "controller_server": ("nav2_controller", "nav2_controller::ControllerServer"),
    "planner_server": ("nav2_planner", "nav2_planner::PlannerServer"),
    "velocity_smoother": ("nav2_velocity_smoother", "nav2_velocity_smoother::VelocitySmoother"),
    "collision_monitor": ("nav2_collision_monitor", "nav2_collision_monitor::CollisionMonitor"),
    "lifecycle_manager": ("nav2_lifecycle_manager", "nav2_lifecycle_manager::LifecycleManager"),
}
REMAPPINGS = {
    "controller_server": [("cmd_vel", "cmd_vel_nav")],
    "velocity_smoother": [("cmd_vel", "cmd_vel_nav")],
}
CONTAINERS: dict[str, dict[str, Any]] = {
    "rclrt": {
        "package": "rclrt_robot",
        "executable": "rclrt_component_container",
        "parameters": [PARAMETERS, {"robot": str(HERE / "robot.yaml")}],
    },
    "stock": {
        "package": "rclcpp_components",
        "executable": "component_container_isolated",
        "parameters": [PARAMETERS],  # read by the nodes that the servers make: the costmaps
    },
}


def containers(context: LaunchContext) -> list[ComposableNodeContainer]:
    nodes = [
        ComposableNode(
            package=package,
            plugin=plugin,
            name=name,
            parameters=[PARAMETERS],
            remappings=REMAPPINGS.get(name, []),
        )
        for name, (package, plugin) in NODES.items()
    ]
    return [
        ComposableNodeContainer(
            name="nav2_container",
            namespace="",
            composable_node_descriptions=nodes,
            prefix=LaunchConfiguration("prefix"),
            output="screen",
            **CONTAINERS[LaunchConfiguration("container").perform(context)],
        )
    ]


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription(
        [
            DeclareLaunchArgument("container", default_value="rclrt", choices=list(CONTAINERS)),
            DeclareLaunchArgument("prefix", default_value="", description="such as: taskset -c 1"),
            OpaqueFunction(function=containers),
        ]
    )
