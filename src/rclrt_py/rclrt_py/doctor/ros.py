# SPDX-License-Identifier: Apache-2.0
"""The ROS 2 environment in which the command runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from rclrt_py.doctor.checks import Finding, blocker, ok, read, warning
from rclrt_py.errors import BadInput
from rclrt_py.processes.installation import is_wheel, ros_fix
from rclrt_py.processes.middleware import DEFAULT_RMW, middleware_in_use
from rclrt_py.processes.runner import find_runner

# Those that rclrt's tests have run on: docs/reference/dependencies.md.
TRIED_RMW = (DEFAULT_RMW, "rmw_cyclonedds_cpp")


def distribution(environment: Mapping[str, str]) -> Finding:
    name = "ROS 2"
    version = package_version(environment, "rcl")
    if version is None:
        return blocker(name, "rcl was not found on AMENT_PREFIX_PATH", ros_fix())
    distro = environment.get("ROS_DISTRO") or "distribution not named by ROS_DISTRO"
    return ok(name, f"{distro}, rcl {version}")


def middleware(environment: Mapping[str, str]) -> Finding:
    name = "middleware"
    rmw = middleware_in_use(environment)
    version = package_version(environment, rmw)
    if version is None:
        return blocker(
            name,
            f"{rmw} was not found on AMENT_PREFIX_PATH",
            f"unset RMW_IMPLEMENTATION, or install {rmw}; {ros_fix()}",
        )
    if rmw not in TRIED_RMW:
        return warning(
            name,
            f"{rmw} {version}, with which rclrt has not been tested",
            f"set RMW_IMPLEMENTATION={DEFAULT_RMW}, or run make test on {rmw}",
        )
    return ok(name, f"{rmw} {version}")


def runner(environment: Mapping[str, str]) -> Finding:
    name = "rclrt_runner"
    try:
        return ok(name, str(find_runner(environment)))
    except BadInput:
        fix = ros_fix() if is_wheel() else f"make build; {ros_fix()}"
        return blocker(name, "was not found on AMENT_PREFIX_PATH", fix)


def package_version(environment: Mapping[str, str], package: str) -> str | None:
    """Returns the version in the package.xml of an installed package. None: it is not installed."""
    if not re.fullmatch(r"[A-Za-z0-9_\-]+", package):
        return None
    for prefix in environment.get("AMENT_PREFIX_PATH", "").split(":"):
        if prefix:
            text = read(Path(prefix) / "share" / package / "package.xml")
            if text is not None:
                found = re.search(r"<version[^>]*>\s*([^<\s]+)\s*</version>", text)
                return found[1] if found else "of unknown version"
    return None
