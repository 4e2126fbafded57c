# SPDX-License-Identifier: Apache-2.0
"""The origin of this installation: a workspace with ROS 2, or the Python wheel without it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
"""The programs of the wheel. The packages of a workspace have theirs below its prefix."""

ENTER_WORKSPACE = "start through ./rclrt, or source the workspace's install/setup.bash"
LEAVE_WHEEL = (
    "install ROS 2, build the rclrt workspace on it (make build in the sources of rclrt), and "
    "source its install/setup.bash"
)


def is_wheel() -> bool:
    return PROGRAMS.is_dir()


def ros_fix() -> str:
    """Returns how the user gets the parts that need ROS 2."""
    return LEAVE_WHEEL if is_wheel() else ENTER_WORKSPACE


def build_command(package: str) -> str:
    """Returns the command that adds a package of rclrt to the running installation."""
    root = os.environ.get("RCLRT_ROOT")
    if root is None:
        return f"colcon build --packages-up-to {package} in the workspace of rclrt, and source it"
    preset = os.environ.get("RCLRT_PRESET", "dev")
    return f"make -C {shlex.quote(root)} build PACKAGES={package} PRESET={preset}"


def not_built(package: str) -> str:
    """Returns the message that a package of rclrt is missing here, and how to get it."""
    if is_wheel():
        return f"{package}, which is not part of the Python wheel\n  fix: {ros_fix()}"
    return f"{package}, which is not built\n  fix: {build_command(package)}"
