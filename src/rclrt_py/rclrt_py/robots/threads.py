# SPDX-License-Identifier: Apache-2.0
"""The processes of ROS 2 on this host and the scheduling of their threads, from /proc."""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
RCL = "/librcl.so"
"""Every client library of ROS 2 maps this library."""
OF_ROS2_COMMAND = b"ros2cli"
"""A word in the command line of the daemon of the command ros2."""
POLICIES = {0: "SCHED_OTHER", 1: "SCHED_FIFO", 2: "SCHED_RR", 3: "SCHED_BATCH", 5: "SCHED_IDLE",
            6: "SCHED_DEADLINE"}  # fmt: skip
RESET_ON_FORK = 0x40000000
_SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}


@dataclass(frozen=True, order=True)
class ThreadScheduling:
    """The results of sched_getattr(2) and sched_getaffinity(2) for a thread."""

    policy: str
    priority: int = 0
    nice: int = 0
    cpus: tuple[int, ...] = ()
    runtime_ns: int = 0
    deadline_ns: int = 0
    period_ns: int = 0


@dataclass(frozen=True)
class FoundThread:
    tid: int
    name: str
    scheduling: ThreadScheduling


@dataclass(frozen=True)
class FoundProcess:
    pid: int
    command: tuple[str, ...]
    threads: tuple[FoundThread, ...]

    @property
    def program(self) -> str:
        """The name of the program, or of the script that an interpreter runs."""
        words = [Path(each).name for each in self.command]
        if not words:
            return self.threads[0].name if self.threads else str(self.pid)
        is_interpreter = words[0].startswith("python") and len(words) > 1
        script = next((each for each in self.command[1:] if not each.startswith("-")), "")
        return Path(script).name if is_interpreter and script.endswith(".py") else words[0]


def ros_processes() -> tuple[list[int], int]:
    """Returns the processes of this host that have loaded ROS 2, without this one and the daemon of
    the command ros2; and the number of processes of other users, of which that is not visible."""
    found, hidden = [], 0
    for entry in PROC.iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if OF_ROS2_COMMAND in (entry / "cmdline").read_bytes():
                continue
            if has_loaded_ros(int(entry.name)):
                found.append(int(entry.name))
        except PermissionError:
            hidden += 1
        except OSError:
            continue  # it has ended
    return sorted(found), hidden


def has_loaded_ros(pid: int) -> bool:
    """Returns whether the process has loaded ROS 2. Throws OSError if that is not visible."""
    with (PROC / str(pid) / "maps").open("rb") as maps:
        return any(RCL.encode() in line for line in maps)


def read_process(pid: int) -> FoundProcess | None:
    """Returns the process with its threads. None: it has ended."""
    directory = PROC / str(pid)
    try:
        command = (directory / "cmdline").read_bytes().decode(errors="replace")
        threads = tuple(_threads(directory / "task"))
    except OSError:
        return None
    return FoundProcess(pid, tuple(each for each in command.split("\0") if each), threads)


def variable_of(pid: int, name: str) -> str | None:
    """Returns an environment variable that the process was started with; "" if it was not set.
    None: the process has ended, or belongs to another user."""
    try:
        entries = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return None
    mark = os.fsencode(name) + b"="
    return next((os.fsdecode(each[len(mark) :]) for each in entries if each.startswith(mark)), "")


def _threads(tasks: Path) -> Iterator[FoundThread]:
    for tid in sorted(int(each.name) for each in tasks.iterdir()):
        with suppress(OSError):  # it has ended
            name = (tasks / str(tid) / "comm").read_bytes().decode(errors="replace")
            yield FoundThread(tid, name.rstrip("\n"), scheduling_of(tid))


class _SchedAttr(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )


def scheduling_of(tid: int) -> ThreadScheduling:
    """Returns the scheduling of a thread of any process. Throws OSError if it has ended."""
    cpus = tuple(sorted(os.sched_getaffinity(tid)))
    number = _SCHED_GETATTR.get(platform.machine())
    if number is not None:
        attr = _SchedAttr()
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syscall(number, tid, ctypes.byref(attr), ctypes.sizeof(attr), 0) == 0:
            return ThreadScheduling(
                POLICIES.get(attr.policy, f"policy {attr.policy}"),
                attr.priority,
                attr.nice,
                cpus,
                attr.runtime,
                attr.deadline,
                attr.period,
            )
    policy = os.sched_getscheduler(tid) & ~RESET_ON_FORK
    return ThreadScheduling(
        POLICIES.get(policy, f"policy {policy}"),
        os.sched_getparam(tid).sched_priority,
        os.getpriority(os.PRIO_PROCESS, tid),
        cpus,
    )


def widest_affinity(processes: Iterable[FoundProcess]) -> tuple[int, ...]:
    """Returns all CPUs that a thread of these processes, or this one, may use."""
    cpus = set(os.sched_getaffinity(0))
    for process in processes:
        for thread in process.threads:
            cpus |= set(thread.scheduling.cpus)
    return tuple(sorted(cpus))
