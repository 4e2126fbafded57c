# SPDX-License-Identifier: Apache-2.0
"""A talker and two listeners in one process. All threads of the process have a stated priority.

Compared with a launch file for rclcpp_components' container, only the package, the executable, the
parameters, and the extra arguments of one node differ.
"""

from pathlib import Path

from launch import LaunchDescription
from launch_ros.actions import ComposableNodeContainer
from launch_ros.descriptions import ComposableNode


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription(
        [
            ComposableNodeContainer(
                name="container",
                namespace="",
                package="rclrt_robot",  # was: rclcpp_components
                executable="rclrt_component_container",  # was: component_container
                parameters=[{"robot": str(Path(__file__).parent / "robot.yaml")}],
                composable_node_descriptions=[
                    ComposableNode(
                        package="demo_nodes_cpp", plugin="demo_nodes_cpp::Talker", name="talker"
                    ),
                    ComposableNode(
                        package="demo_nodes_cpp", plugin="demo_nodes_cpp::Listener", name="listener"
                    ),
                    ComposableNode(
                        package="demo_nodes_cpp",
                        plugin="demo_nodes_cpp::Listener",
                        name="urgent_listener",
                        extra_arguments=[{"priority": 5}],  # of all its callbacks
                    ),
                ],
                output="screen",
            )
        ]
    )
