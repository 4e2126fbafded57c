# SPDX-License-Identifier: Apache-2.0
"""The middleware on which the programs that a command starts run."""

from __future__ import annotations

from collections.abc import Mapping

DEFAULT_RMW = "rmw_fastrtps_cpp"
"""That of every ROS 2 release that rclrt supports."""


def stated_middleware(environment: Mapping[str, str]) -> str | None:
    """Returns the middleware that RMW_IMPLEMENTATION selects. None: it is not set."""
    return environment.get("RMW_IMPLEMENTATION") or None


def middleware_in_use(environment: Mapping[str, str]) -> str:
    """Returns the middleware of the programs that run in this environment."""
    return stated_middleware(environment) or DEFAULT_RMW
