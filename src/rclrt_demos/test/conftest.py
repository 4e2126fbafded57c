# SPDX-License-Identifier: Apache-2.0
"""The programs of this build, and a check whether this process may be real-time."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from rclrt_py.testing.command import Command
from rclrt_py.testing.waiting import GENEROUS_S
from study_programs import path_of


@pytest.fixture(scope="session")
def program() -> Command:
    def call(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [path_of(name), *map(str, arguments)],
            capture_output=True, text=True, timeout=GENEROUS_S, check=False,
        )  # fmt: skip

    return call


@pytest.fixture(scope="session")
def realtime(program: Command) -> None:
    """Skips, with the reason, if no thread may be real-time."""
    said = program("init_thread", "--rttest_args", "-i", "1", "-d", "1").stderr
    if "no real-time policy" in said:
        pytest.skip(said)
