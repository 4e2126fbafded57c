# SPDX-License-Identifier: Apache-2.0
"""The permissions that the kernel gives this process. They are tried out where that is possible."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Mapping
from pathlib import Path

from rclrt_py.doctor.checks import Finding, blocker, ok, read, warning
from rclrt_py.doctor.login import Login
from rclrt_py.errors import EXIT_NO, BadInput
from rclrt_py.processes.realtime import RTPRIO, fifo_permitted
from rclrt_py.processes.runner import find_program

WITHOUT_PROBE = 98
"""The highest priority that any thread needs except the stall probe, which needs 99."""
CAP_IPC_LOCK = 14
_GENEROUS_S = 20


def highest_fifo() -> int | str:
    """Returns RTPRIO or WITHOUT_PROBE, the highest that is permitted; otherwise the reason."""
    if fifo_permitted(RTPRIO) is None:
        return RTPRIO
    problem = fifo_permitted(WITHOUT_PROBE)
    return WITHOUT_PROBE if problem is None else problem


def explained(environment: Mapping[str, str], priority: int = RTPRIO) -> str | None:
    """Returns why the kernel refuses a SCHED_FIFO priority, and what to do, as text of the program
    why_no_realtime of rclrt_realtime.

    Returns None if the kernel permits the priority, or if that program is not installed or fails.
    """
    try:
        program = find_program(environment, "rclrt_realtime", "why_no_realtime")
        done = subprocess.run(
            [program, str(priority)],
            capture_output=True,
            text=True,
            timeout=_GENEROUS_S,
            check=False,
        )
    except (BadInput, OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != EXIT_NO:
        return None
    text = done.stdout.strip()
    return text.partition(" is not permitted: ")[2] or text or None


def scheduling(highest: int | str, login: Login, why: str | None = None) -> Finding:
    """Checks which SCHED_FIFO priorities this user may use. `highest` is the result of
    highest_fifo(): the highest permitted priority, or an error text. `why` is the result of
    explained(): the reason and the fix; None: unknown."""
    name = "SCHED_FIFO"
    if highest == RTPRIO:
        return ok(name, f"permitted up to priority {RTPRIO}")
    fix = why or (
        f"put '{login.domain} - rtprio {RTPRIO}' into {login.limits_file} and log in again; in a "
        f"container, start it with --cap-add=SYS_NICE --ulimit rtprio={RTPRIO}"
    )
    if isinstance(highest, str):
        return blocker(name, f"denied: {highest}", fix)
    return warning(
        name,
        f"permitted up to priority {highest}; the stall probe of rclrt latency needs {RTPRIO}",
        fix,
    )


def memory(limit: int, root: Path, login: Login) -> Finding:
    """Checks the locked memory. `limit` is RLIMIT_MEMLOCK in bytes."""
    name = "memory locking"
    if limit == resource.RLIM_INFINITY or _has_capability(root, CAP_IPC_LOCK):
        return ok(name, "unlimited")
    return warning(
        name,
        f"limited to {limit / (1 << 20):.3g} MiB: memory above this limit is not locked",
        f"put '{login.domain} - memlock unlimited' into {login.limits_file} and log in again "
        "(LimitMEMLOCK=infinity in a systemd unit, --ulimit memlock=-1 for a container); "
        "otherwise a page fault can stop a real-time thread",
    )


def idle_states(root: Path) -> Finding:
    """Checks that this user may write /dev/cpu_dma_latency. A program that holds this file open
    keeps CPUs out of deep idle states, which take long to leave."""
    name = "CPU idle states"
    device = root / "dev/cpu_dma_latency"
    states = list((root / "sys/devices/system/cpu").glob("cpu0/cpuidle/state[0-9]*"))
    if device.exists() and os.access(device, os.W_OK):
        return ok(name, "/dev/cpu_dma_latency can be written")
    if not states:
        return ok(name, "none known to this kernel")
    what = "cannot be written" if device.exists() else "does not exist"
    return warning(
        name,
        f"/dev/cpu_dma_latency {what}, so CPUs may enter idle states that take long to leave",
        'let the user write it with a udev rule, KERNEL=="cpu_dma_latency", MODE="0660", '
        'GROUP="realtime"; or boot with processor.max_cstate=1',
    )


def _has_capability(root: Path, number: int) -> bool:
    for line in (read(root / "proc/self/status") or "").splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> number & 1)
    return False
