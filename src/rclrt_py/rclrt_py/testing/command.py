# SPDX-License-Identifier: Apache-2.0
"""The `rclrt` command, as a test starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclrt_py.testing.waiting import GENEROUS_S


@dataclass(frozen=True)
class Answer:
    """The result of one command line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Rclrt = Callable[..., Answer]
"""`rclrt(*arguments)` runs the command in the process of the test."""


Command = Callable[..., "subprocess.CompletedProcess[str]"]
"""Runs a program, or a verb of the command, to its end with these arguments."""


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "rclrt_cli", *map(str, arguments)]


def python_path() -> str:
    """Returns a PYTHONPATH by which a process imports the same library and command as this one."""
    modules = (sys.modules[name] for name in ("rclrt_cli", "rclrt_py") if name in sys.modules)
    ours = [str(Path(each.__file__).resolve().parents[1]) for each in modules if each.__file__]
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    # An empty part would be the working directory.
    return os.pathsep.join(dict.fromkeys(part for part in (*ours, *inherited) if part))


def domain_id() -> int:
    """Returns a DDS domain of this process: ctest gives one for each of pytest's workers."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    return int(os.environ["ROS_DOMAIN_ID"]) + int(worker.removeprefix("gw"))


def environment() -> dict[str, str]:
    """Returns the environment of a command that starts the real programs."""
    return {**os.environ, "PYTHONPATH": python_path(), "ROS_DOMAIN_ID": str(domain_id())}


def finished(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs the command in a process of its own, with the real programs."""
    return subprocess.run(
        command(*arguments),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=GENEROUS_S,
        check=False,
    )
