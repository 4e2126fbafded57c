# SPDX-License-Identifier: Apache-2.0
"""Measures the share of a CPU that the kernel gives to real-time threads.

Two mechanisms can hold these threads back: the bandwidth limit (kernel.sched_rt_runtime_us, 95 % by
default), and since Linux 6.12 the fair server, which guarantees 5 % to threads of normal priority.
The measurement takes only two seconds, and a limit that had no effect during them may still have
one later. The result is therefore the smaller of the measured share and the share that the kernel's
settings leave.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PERIOD_S = 1.0
"""Default period of either mechanism; kernel.sched_rt_period_us."""
PERIODS = 2
FAIR_SERVER_SHARE = 0.05
"""Default share of the fair server."""
LEAST_WAIT_NS = 1_000_000
"""A shorter gap is a tick, an interrupt or a more urgent thread."""


def measure(cpu: int, seconds: float = PERIODS * PERIOD_S) -> dict[str, float] | None:
    """Measures which share of `cpu` a real-time thread gets: keeps it busy for `seconds` at the
    lowest real-time priority, beside a thread of normal priority.

    Returns "share" (0 to 1), "longest_wait_us" and "period_us". Returns None if real-time
    scheduling is not permitted, or if the kernel does not count how long a thread waits for a CPU.
    """
    with _child(lambda: _spin(cpu)), _child(lambda: _spin_realtime(cpu, seconds)) as said:
        text = said()
    return None if not text else dict(json.loads(text))


def _spin(cpu: int) -> str:
    os.sched_setaffinity(0, {cpu})
    while True:
        pass


def _spin_realtime(cpu: int, seconds: float) -> str:
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    start = last = time.monotonic_ns()
    waited = longest = 0
    before = _run_delay()
    while last < start + seconds * 1e9:
        now = time.monotonic_ns()
        if now - last > LEAST_WAIT_NS:
            # Only the time in which the thread was ready counts: the host took the rest of the gap.
            after = _run_delay()
            waited += after - before
            longest = max(longest, after - before)
            before = after
        last = time.monotonic_ns()
    share = min(1 - waited / (last - start), stated_share(cpu))
    return json.dumps(
        {
            "share": round(share, 4),
            "longest_wait_us": longest / 1e3,
            "period_us": PERIOD_S * 1e6,
        }
    )


def stated_share(cpu: int, root: Path = Path("/"), kernel: str | None = None) -> float:
    """Returns the share of `cpu` that the kernel's settings leave. 1: there is no limit."""
    limit = _share(root / "proc/sys/kernel", "sched_rt_runtime_us", "sched_rt_period_us")
    server = _share(root / f"sys/kernel/debug/sched/fair_server/cpu{cpu}", "runtime", "period")
    if server is None:  # not readable: assume the kernel's default
        server = FAIR_SERVER_SHARE if has_fair_server(kernel or os.uname().release) else 0.0
    # A limit of -1 means that there is none. Both mechanisms take the same part of the CPU away, so
    # the result is the smaller of the two shares, not their product.
    return min(1.0 if limit is None or not 0 <= limit < 1 else limit, 1 - server)


def has_fair_server(kernel: str) -> bool:
    """Returns whether a kernel of this release has a fair server."""
    numbers = re.match(r"(\d+)\.(\d+)", kernel)
    return numbers is None or (int(numbers[1]), int(numbers[2])) >= (6, 12)


def _share(directory: Path, runtime: str, period: str) -> float | None:
    """Returns the share that is set. None: it cannot be read."""
    try:
        return int((directory / runtime).read_text()) / int((directory / period).read_text())
    except (OSError, ValueError, ZeroDivisionError):
        return None


def _run_delay() -> int:
    """Returns how long this thread was ready without a CPU, in nanoseconds."""
    return int(Path("/proc/self/schedstat").read_text().split()[1])


@contextlib.contextmanager
def _child(work: Callable[[], str]) -> Iterator[Callable[[], str]]:
    """Runs `work` in a child process, which is killed when the block ends.

    Yields a function that waits for the text that `work` returns. The text is empty if `work`
    failed.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            os.close(read)
            os.write(write, work().encode())
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    try:
        with os.fdopen(read, encoding="utf-8") as stream:
            yield stream.read
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
