# SPDX-License-Identifier: Apache-2.0
"""Makes the machine busy, as a shared or an overloaded one is.

busy       two loops on each CPU at normal priority: everything gets a third of it
disturber  a SCHED_FIFO process on each CPU at priority 99 that takes 10 of each 100 ms, on all CPUs
           at the same time, as a hypervisor does that runs somebody else

The loops end when they are ended, and when their parent does.
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

# What the loops of a CPU have used at the least, as a part of the time that passed: with less, the
# tests ran on a machine that was not loaded. Half of what the disturber asks for; of the busy loops
# less, as everything else may take more than its third by real-time priority.
LEAST_SHARE = {"busy": 0.1, "disturber": 0.5 * TAKEN_NS / PERIOD_NS}

_PR_SET_PDEATHSIG = 1


class LoadError(Exception):
    """What is wrong, and what to do."""


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
    """The child's life: ends with its parent, and never returns."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before prctl
            os._exit(0)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
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
    """Throws LoadError if the process has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        raise LoadError(f"the load's process {pid} has ended by itself") from None
    fields = text.rpartition(")")[2].split()
    if fields[0] == "Z":
        raise LoadError(f"the load's process {pid} has ended by itself")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Load:
    """Loads each CPU that this process may use, from `with` to its end."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._cpu_of: dict[int, int] = {}
        self._since = 0.0
        self._used_before: dict[int, float] = {}

    def __enter__(self) -> Load:
        """Returns when every loop runs. Throws LoadError if one cannot."""
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
        """Returns, for each CPU, the part of its time that the loops have used since they ran.

        Throws LoadError if a loop has ended.
        """
        passed = time.monotonic() - self._since
        used = dict.fromkeys(self._cpu_of.values(), 0.0)
        for pid, cpu in self._cpu_of.items():
            used[cpu] += _cpu_seconds(pid) - self._used_before[pid]
        return {cpu: seconds / passed for cpu, seconds in used.items()}

    def check(self) -> str:
        """Returns what the load took, in words. Throws LoadError if that was no load."""
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


if __name__ == "__main__":  # the load alone, to look at one test under it, until it is ended
    if len(sys.argv) != 2 or sys.argv[1] not in KINDS:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(KINDS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with Load(sys.argv[1]):
            signal.pause()
    except LoadError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
