# SPDX-License-Identifier: Apache-2.0
"""Where this installation came from: a workspace with ROS 2, or the Python wheel without it."""

from __future__ import annotations

from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"
"""The programs of the wheel. The packages of a workspace have theirs below its prefix."""

ENTER_WORKSPACE = "start through ./rclrt, or source the workspace's install/setup.bash"
LEAVE_WHEEL = (
    "install ROS 2, build the rclrt workspace on it (make build in the sources of rclrt), and "
    "source its install/setup.bash"
)


def is_wheel() -> bool:
    return PROGRAMS.is_dir()


def ros_fix() -> str:
    """How the user gets to what needs ROS 2."""
    return LEAVE_WHEEL if is_wheel() else ENTER_WORKSPACE
