# SPDX-License-Identifier: Apache-2.0
# mypy: ignore-errors
"""Starts `rclrt_runner` from `ros2 launch`.

    ros2 launch rclrt_runner run.launch.py app:=app.yaml executor:=preemptive seconds:=10 out:=out

The runner itself starts and watches the processes that the application names. The types in this
file are not checked: they come from ROS's package launch, which only this file needs.
"""

from pathlib import Path

from ament_index_python.packages import get_package_prefix
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, Shutdown
from launch.substitutions import LaunchConfiguration


def generate_launch_description() -> LaunchDescription:
    runner = Path(get_package_prefix("rclrt_runner")) / "lib" / "rclrt_runner" / "rclrt_runner"
    return LaunchDescription(
        [
            DeclareLaunchArgument("app", description="path of the app.yaml"),
            DeclareLaunchArgument("out", description="directory of the results"),
            DeclareLaunchArgument("executor", default_value="preemptive"),
            DeclareLaunchArgument("seconds", default_value="10"),
            ExecuteProcess(
                cmd=[
                    str(runner),
                    LaunchConfiguration("app"),
                    "--executor",
                    LaunchConfiguration("executor"),
                    "--seconds",
                    LaunchConfiguration("seconds"),
                    "--out",
                    LaunchConfiguration("out"),
                ],
                name="rclrt_runner",
                output="screen",
                on_exit=Shutdown(),
            ),
        ]
    )
