# SPDX-License-Identifier: Apache-2.0
"""The libraries that make processes traceable, loaded before their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

PACKAGE = "rclrt_tracetools"


def traceable(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command whose processes are to be traced."""
    libraries = [str(path) for path in _own(environment)]
    before = [item for item in environment.get("LD_PRELOAD", "").split(":") if item]
    return {**environment, "LD_PRELOAD": ":".join([*libraries, *before])}


def _own(environment: Mapping[str, str]) -> list[Path]:
    """rclrt's tracepoints; those of ROS where its tracetools brings an LTTng of its own."""
    for prefix in environment.get("AMENT_PREFIX_PATH", "").split(":"):
        directory = Path(prefix) / "lib" / PACKAGE
        if prefix and directory.is_dir():
            names = ("libtracetools.so", "librclrt_tracepoints.so")
            return [directory / name for name in names if (directory / name).is_file()]
    return []
