# SPDX-License-Identifier: Apache-2.0
"""Loads the machine like a shared or an overloaded one.

busy       two loops on each CPU at normal priority: any other process gets a third of the CPU
disturber  a SCHED_FIFO process on each CPU at priority 99 that takes 10 of each 100 ms, on all CPUs
           at the same time, like a hypervisor that runs another guest

The loops end when they are stopped, or when their parent ends.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import sys
import time
from pathlib import Path
from types import TracebackType

KINDS = ("busy", "disturber")
LOOPS_PER_CPU = {"busy": 2, "disturber": 1}
PERIOD_NS = 100_000_000
TAKEN_NS = 10_000_000
PRIORITY = 99
START_LIMIT_S = 60.0

# Least share of a CPU's time that its loops must have used. With less, the machine was not loaded
# during the tests. The share is half of the disturber's demand. It is lower for the busy loops,
# because other processes may take more than their third by real-time priority.
LEAST_SHARE = {"busy": 0.1, "disturber": 0.5 * TAKEN_NS / PERIOD_NS}

_PR_SET_PDEATHSIG = 1


class LoadError(Exception):
    """An error of the load; the message says how to fix it."""


def _end_with_parent(number: signal.Signals) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, number)


def _spin() -> None:
    while True:
        pass


def _disturb() -> None:
    while True:
        release = (time.monotonic_ns() // PERIOD_NS + 1) * PERIOD_NS
        while (left := release - time.monotonic_ns()) > 0:
            time.sleep(left / 1e9)
        while time.monotonic_ns() < release + TAKEN_NS:
            pass


def _become(kind: str, cpu: int, parent: int) -> None:
    """Runs the child, which ends with its parent. Never returns."""
    try:
        _end_with_parent(signal.SIGKILL)
        if os.getppid() != parent:  # the parent ended before prctl
            os._exit(0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C: the parent ends this process
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.sched_setaffinity(0, {cpu})
        if kind == "disturber":
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
            _disturb()
        _spin()
    finally:
        os._exit(1)


def check_permission() -> None:
    """Throws LoadError if this process may not run at the disturber's priority."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except PermissionError:
        limit = resource.getrlimit(resource.RLIMIT_RTPRIO)[0]
        raise LoadError(
            f"the disturber needs SCHED_FIFO at priority {PRIORITY}, and this user may use "
            f"priorities up to {limit}.\nfix: run as root, or add `rtprio {PRIORITY}` for this "
            "user in /etc/security/limits.d and log in again; LOAD=busy needs no permission."
        ) from None
    os.sched_setscheduler(0, *before)


def _cpu_seconds(pid: int) -> float:
    """Returns the CPU time of a process. Throws LoadError if it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        raise LoadError(f"the load's process {pid} has ended by itself") from None
    fields = text.rpartition(")")[2].split()
    if fields[0] == "Z":
        raise LoadError(f"the load's process {pid} has ended by itself")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Load:
    """Loads each CPU that this process may use, within the `with` block."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._cpu_of: dict[int, int] = {}
        self._since = 0.0
        self._used_before: dict[int, float] = {}

    def __enter__(self) -> Load:
        """Starts the loops. Returns when each of them runs. Throws LoadError if one cannot."""
        if self._kind == "disturber":
            check_permission()
        parent = os.getpid()
        try:
            for cpu in sorted(os.sched_getaffinity(0)):
                for _ in range(LOOPS_PER_CPU[self._kind]):
                    pid = os.fork()
                    if pid == 0:
                        _become(self._kind, cpu, parent)
                    self._cpu_of[pid] = cpu
            end = time.monotonic() + START_LIMIT_S
            while min(_cpu_seconds(pid) for pid in self._cpu_of) == 0:
                if time.monotonic() > end:
                    raise LoadError(f"the load did not start within {START_LIMIT_S:.0f} s")
                time.sleep(0.01)
        except BaseException:
            self._end()
            raise
        self._since = time.monotonic()
        self._used_before = {pid: _cpu_seconds(pid) for pid in self._cpu_of}
        return self

    def shares(self) -> dict[int, float]:
        """Returns, for each CPU, the share of time that the loops have used since their start.

        Throws LoadError if a loop has ended.
        """
        passed = time.monotonic() - self._since
        used = dict.fromkeys(self._cpu_of.values(), 0.0)
        for pid, cpu in self._cpu_of.items():
            used[cpu] += _cpu_seconds(pid) - self._used_before[pid]
        return {cpu: seconds / passed for cpu, seconds in used.items()}

    def check(self) -> str:
        """Returns the used shares as text. Throws LoadError if the load was too low."""
        shares = self.shares()
        least = LEAST_SHARE[self._kind]
        words = ", ".join(f"{share:.0%} of CPU {cpu}" for cpu, share in shares.items())
        if min(shares.values()) < least:
            raise LoadError(
                f"the load took {words}, expected at least {least:.0%} of each: the tests did not "
                "run under it.\nfix: end what else runs on this machine at real-time priority."
            )
        return f"the load took {words}"

    def _end(self) -> None:
        for pid in self._cpu_of:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except OSError as error:
                if error.errno not in (errno.ESRCH, errno.ECHILD):
                    raise
        self._cpu_of.clear()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()


if __name__ == "__main__":  # only the load, until it is stopped: to try one test under it
    if len(sys.argv) != 2 or sys.argv[1] not in KINDS:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(KINDS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    _end_with_parent(signal.SIGTERM)
    try:
        with Load(sys.argv[1]):
            signal.pause()
    except LoadError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
