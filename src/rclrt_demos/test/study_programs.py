# SPDX-License-Identifier: Apache-2.0
"""The programs of this build, and a process that may not be real-time."""

from __future__ import annotations

import ctypes
import os
import resource
from pathlib import Path

PROGRAMS = (
    "init_thread",
    "init_and_node_thread",
    "timer_cb_latency_spin_some",
    "timer_cb_latency_spin",
)


def path_of(name: str) -> Path:
    return Path(os.environ["RCLRT_STUDY_PROGRAMS"]) / name


def give_up_realtime() -> None:
    """In a child before it starts: from here on no real-time policy is permitted."""
    pr_capbset_drop, cap_sys_nice = 24, 23
    ctypes.CDLL(None).prctl(pr_capbset_drop, cap_sys_nice)
    resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
