# SPDX-License-Identifier: Apache-2.0
"""The programs of this build, and whether this process may be real-time."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

GENEROUS_S = 300  # only a program that hangs takes as long
PROGRAMS = (
    "init_thread",
    "init_and_node_thread",
    "timer_cb_latency_spin_some",
    "timer_cb_latency_spin",
)
Program = Callable[..., "subprocess.CompletedProcess[str]"]


def path_of(name: str) -> Path:
    return Path(os.environ["RCLRT_STUDY_PROGRAMS"]) / name


def give_up_realtime() -> None:
    """In a child before it starts: from here on no real-time policy is permitted."""
    pr_capbset_drop, cap_sys_nice = 24, 23
    ctypes.CDLL(None).prctl(pr_capbset_drop, cap_sys_nice)
    resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))


@pytest.fixture(scope="session")
def program() -> Program:
    def call(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [path_of(name), *map(str, arguments)],
            capture_output=True, text=True, timeout=GENEROUS_S, check=False,
        )  # fmt: skip

    return call


@pytest.fixture(scope="session")
def realtime(program: Program) -> None:
    """Skips, with the reason, where no thread may be real-time."""
    said = program("init_thread", "--rttest_args", "-i", "1", "-d", "1").stderr
    if "no real-time policy" in said:
        pytest.skip(said)
