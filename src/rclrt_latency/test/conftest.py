# SPDX-License-Identifier: Apache-2.0
"""The command as a user calls it, and traces made by the tests, byte by byte."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rclrt_cli.main import main
from rclrt_py.testing.command import Command
from rclrt_py.testing.waiting import GENEROUS_S

Called = Callable[..., int]


@pytest.fixture(scope="session")
def program() -> Path:
    return Path(os.environ["RCLRT_LATENCY"])


@pytest.fixture
def installed(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with the program of this build and no other."""
    place = tmp_path / "workspace/lib/rclrt_latency/rclrt_latency"
    place.parent.mkdir(parents=True)
    place.symlink_to(program)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "workspace"))
    return place


@pytest.fixture
def run(program: Path) -> Command:
    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, *map(str, arguments)],
            capture_output=True, text=True, timeout=GENEROUS_S, check=False,
        )  # fmt: skip

    return call


@pytest.fixture
def latency(monkeypatch: pytest.MonkeyPatch) -> Called:
    """`rclrt latency` in this process; its verb is this source tree's."""
    from rclrt_cli import main as command
    from rclrt_latency import latency_command

    monkeypatch.setitem(command.VERBS, "latency", latency_command)

    def call(*arguments: str | Path) -> int:
        return main(["latency", *map(str, arguments)])

    return call


@pytest.fixture
def python() -> str:
    return sys.executable
