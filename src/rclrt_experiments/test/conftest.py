# SPDX-License-Identifier: Apache-2.0
"""The command as a user calls it, and a small experiment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

GENEROUS_S = 600  # only a program that hangs takes as long
Command = Callable[..., "subprocess.CompletedProcess[str]"]
SMALL = """\
rclrt: 1
kind: experiment
name: small
title: A small one
varied: utilisation
trials: 4
seconds: 2
executors: [wait_set, preemptive, thread_dispatch+synthesis]
rules: {chain_count: 3, chain_avg_len: 2, chain_sync_p: 0.3, cpus: [1], scheduler_cpus: [0]}
points:
  - {label: "20 %", rules: {util_total: 0.2}}
  - {label: "80 %", rules: {util_total: 0.8}}
simulation: {dispatch_us: 30, scheduler_us: 15, polling_us: 20, lowest_execution: 0.5}
"""


def command_line(*arguments: str | Path | int) -> list[str]:
    return [sys.executable, "-m", "rclrt_cli", "experiment", *map(str, arguments)]


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
