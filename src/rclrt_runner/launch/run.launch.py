# SPDX-License-Identifier: Apache-2.0
# mypy: ignore-errors
"""What `rclrt_runner` does, for who starts everything with `ros2 launch`.

    ros2 launch rclrt_runner run.launch.py app:=app.yaml executor:=preemptive seconds:=10 out:=out

Processes that the application names are started and watched by the runner itself. Its types are
not checked: they are ROS's launch's, which is needed only for who uses this file.
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
