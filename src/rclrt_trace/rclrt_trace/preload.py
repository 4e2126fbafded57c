# SPDX-License-Identifier: Apache-2.0
"""The libraries that make processes traceable, loaded before their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rclrt_py.errors import BadInput

PACKAGE = "rclrt_tracetools"
# The loader splits LD_PRELOAD at these, and nothing escapes them.
SEPARATORS = " :"


def traceable(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command whose processes are to be traced. Throws BadInput when the
    libraries are where LD_PRELOAD cannot name them."""
    libraries = [str(path) for path in _own(environment)]
    for library in libraries:
        if any(separator in library for separator in SEPARATORS):
            raise BadInput(
                f"{library}: cannot be preloaded, for LD_PRELOAD ends a name at a blank or a "
                "colon and the command would run untraced; install rclrt in a directory without "
                "either, or source it through a link that has none"
            )
    before = [item for item in environment.get("LD_PRELOAD", "").split(":") if item]
    return {**environment, "LD_PRELOAD": ":".join([*libraries, *before])}


def _own(environment: Mapping[str, str]) -> list[Path]:
    """rclrt's tracepoints; those of ROS where its tracetools brings an LTTng of its own."""
    prefixes = [Path(each) for each in environment.get("AMENT_PREFIX_PATH", "").split(":") if each]
    # A prefix with a colon is in pieces there; this file knows its own.
    for prefix in [*prefixes, *Path(__file__).resolve().parents]:
        directory = prefix / "lib" / PACKAGE
        if directory.is_dir():
            names = ("libtracetools.so", "librclrt_tracepoints.so")
            return [directory / name for name in names if (directory / name).is_file()]
    return []
