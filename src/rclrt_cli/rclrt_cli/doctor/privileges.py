# SPDX-License-Identifier: Apache-2.0
"""What the kernel permits this process: tried out rather than read off where that is possible."""

from __future__ import annotations

import os
import resource
import threading
from pathlib import Path

from rclrt_cli.doctor.checks import Finding, blocker, ok, read, warning

LIMITS_FILE = "/etc/security/limits.d/rclrt.conf"
RTPRIO = 98
ENOUGH_MEMORY = 1 << 30
CAP_IPC_LOCK = 14


def fifo_permitted(priority: int = RTPRIO) -> str | None:
    """None when a thread may run under SCHED_FIFO with this priority, else why not."""
    problem: list[str | None] = [None]

    def attempt() -> None:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        except OSError as error:
            problem[0] = error.strerror

    # A thread of its own: it takes the policy with it when it ends.
    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return problem[0]


def scheduling(problem: str | None) -> Finding:
    """`problem` is what fifo_permitted() returned."""
    name = "SCHED_FIFO"
    if problem is None:
        return ok(name, f"permitted up to priority {RTPRIO}")
    return blocker(
        name,
        f"denied: {problem}",
        f"put '{_user()} - rtprio {RTPRIO}' into {LIMITS_FILE} and log in again; in a container, "
        "start it with --cap-add=SYS_NICE --ulimit rtprio=98",
    )


def memory(limit: int, root: Path) -> Finding:
    """`limit` is RLIMIT_MEMLOCK in bytes."""
    name = "memory locking"
    if limit == resource.RLIM_INFINITY or _has_capability(root, CAP_IPC_LOCK):
        return ok(name, "unlimited")
    found = f"limited to {limit / (1 << 20):.0f} MiB"
    if limit >= ENOUGH_MEMORY:
        return ok(name, found)
    return warning(
        name,
        found,
        f"put '{_user()} - memlock unlimited' into {LIMITS_FILE} and log in again; otherwise a "
        "page fault can stop a real-time thread",
    )


def idle_states(root: Path) -> Finding:
    """Deep sleep states of the CPU cost time to wake from; this device keeps them away."""
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
        f"/dev/cpu_dma_latency {what}, and CPUs may sleep deeply",
        'let the user write it with a udev rule, KERNEL=="cpu_dma_latency", MODE="0660", '
        'GROUP="realtime"; or boot with processor.max_cstate=1',
    )


def _has_capability(root: Path, number: int) -> bool:
    for line in (read(root / "proc/self/status") or "").splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> number & 1)
    return False


def _user() -> str:
    return os.environ.get("USER") or str(os.geteuid())
