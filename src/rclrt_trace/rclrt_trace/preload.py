# SPDX-License-Identifier: Apache-2.0
"""The libraries that make processes traceable, loaded before their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rclrt_py.errors import BadInput

PACKAGE = "rclrt_tracetools"
# The loader splits LD_PRELOAD at these characters, and they cannot be escaped.
SEPARATORS = " :"


def traceable(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment variables for a command that is to be traced. Throws BadInput if the
    paths of the libraries cannot be written in LD_PRELOAD."""
    libraries = [str(path) for path in _own(environment)]
    for library in libraries:
        if any(separator in library for separator in SEPARATORS):
            raise BadInput(
                f"{library}: cannot be preloaded, because LD_PRELOAD ends a name at a blank or "
                "a colon, and the command would run untraced; install rclrt in a directory without "
                "either, or source it through a link that has none"
            )
    before = [item for item in environment.get("LD_PRELOAD", "").split(":") if item]
    return {**environment, "LD_PRELOAD": ":".join([*libraries, *before])}


def _own(environment: Mapping[str, str]) -> list[Path]:
    """Returns rclrt's tracepoint library, and ROS's where its tracetools has its own LTTng."""
    prefixes = [Path(each) for each in environment.get("AMENT_PREFIX_PATH", "").split(":") if each]
    # The variable splits a prefix that contains a colon, so use the prefix of this file too.
    for prefix in [*prefixes, *Path(__file__).resolve().parents]:
        directory = prefix / "lib" / PACKAGE
        if directory.is_dir():
            names = ("libtracetools.so", "librclrt_tracepoints.so")
            return [directory / name for name in names if (directory / name).is_file()]
    return []
