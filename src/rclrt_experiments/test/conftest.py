# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the command as a user calls it, and a small experiment."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from rclrt_py.testing.command import Command
from rclrt_py.testing.waiting import GENEROUS_S
from small_experiment import SMALL, command_line


@pytest.fixture(scope="session")
def experiment() -> Command:
    def call(*arguments: str | Path | int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command_line(*arguments),
            capture_output=True, text=True, timeout=GENEROUS_S, check=False,
        )  # fmt: skip

    return call


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path
