# SPDX-License-Identifier: Apache-2.0
"""Records a command, or what starts meanwhile, with LTTng."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rclrt_py.errors import EXIT_OK, BadInput, RunFailed
from rclrt_py.processes.parent_death import end_with_parent
from rclrt_py.processes.stop_signals import StopSignals

from rclrt_trace.losses import Watch, find_losses
from rclrt_trace.preload import traceable
from rclrt_trace.scheduling import Scheduling
from rclrt_trace.session import Daemon, Session

MEGABYTE = 1 << 20
PATIENCE_S = 20.0
"""Seconds that a command has to end after SIGINT, and again after SIGTERM."""


def trace_into(
    out: Path,
    command: list[str],
    losses: list[str],
    *,
    seconds: float | None,
    most_mb: int,
    is_snapshot: bool,
) -> int:
    """Records into `out`. Returns the command's exit code; adds what was lost to `losses`."""
    # Scheduling events are recorded for a command and its children, not in a snapshot.
    of_scheduling = most_mb // 4 if command and not is_snapshot else 0
    most_bytes = (most_mb - of_scheduling) * MEGABYTE
    if not of_scheduling:
        what = "of a snapshot" if command else "without a command behind --"
        print(
            f"rclrt: note: no scheduling events {what}: execution times will be wall time",
            file=sys.stderr,
        )
    recorded = False
    try:
        with (
            _Snapshots(is_snapshot, losses) as snapshots,
            StopSignals() as stop,
            Daemon() as daemon,
            Session(out.resolve(), most_bytes, is_snapshot, losses) as session,
            Watch(daemon.pid, losses),
            Scheduling(out.resolve() / "scheduling", of_scheduling, losses)
            if of_scheduling
            else contextlib.nullcontext(),
        ):
            recorded = True
            code = _trace(command, seconds, stop, lambda: snapshots.take(session))
            if is_snapshot:
                session.keep()
    finally:
        if recorded:
            losses += find_losses(out)
    return code


class _Snapshots:
    """Within the `with` block, SIGUSR1 requests a snapshot, which `take` writes."""

    def __init__(self, wanted: bool, losses: list[str]) -> None:
        self._wanted = wanted
        self._losses = losses
        self._asked = False

    def __enter__(self) -> _Snapshots:
        if self._wanted:
            self._before = signal.signal(signal.SIGUSR1, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        if self._wanted:
            signal.signal(signal.SIGUSR1, self._before)

    def take(self, session: Session) -> None:
        """Writes the requested snapshot. A failure is printed, and the robot continues to run."""
        if self._asked:
            self._asked = False
            try:
                session.keep()
            except RunFailed as problem:
                print(f"rclrt: {problem}", file=sys.stderr)
                self._losses.append(str(problem))

    def _ask(self, *_: object) -> None:
        self._asked = True


def _trace(
    command: list[str], seconds: float | None, stop: StopSignals, snapshot: Callable[[], None]
) -> int:
    """Runs the command to its end, or waits without one. Returns the exit code."""
    end = None if seconds is None else time.monotonic() + seconds
    if not command:
        print(
            "tracing all programs that start from now on; the callbacks of nodes that run already "
            "are not in the trace. Ctrl-C ends the trace",
            flush=True,
        )
        read_end, write_end = os.pipe()
        try:
            while not stop.requested and (end is None or time.monotonic() < end):
                stop.wait(read_end, None if end is None else max(end - time.monotonic(), 0))
                snapshot()
        finally:
            os.close(read_end)
            os.close(write_end)
        return EXIT_OK
    try:
        child = subprocess.Popen(
            command,
            env=traceable(os.environ),
            start_new_session=True,
            preexec_fn=end_with_parent(),
        )
    except OSError as error:
        raise BadInput(f"{command[0]}: cannot be started: {error.strerror}") from error
    try:
        _wait(child, end, stop, snapshot)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    if child.returncode < 0 and not stop.requested and end is None:
        raise RunFailed(f"{command[0]} was ended by signal {-child.returncode}")
    return EXIT_OK if child.returncode < 0 else child.returncode


def _wait(
    child: subprocess.Popen[bytes],
    end: float | None,
    stop: StopSignals,
    snapshot: Callable[[], None],
) -> None:
    descriptor = os.pidfd_open(child.pid)
    limit = end
    strengths = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
    asked = 0
    try:
        while child.poll() is None:
            now = time.monotonic()
            if strengths and (stop.count > asked or (limit is not None and now >= limit)):
                os.killpg(child.pid, strengths.pop(0))
                asked = stop.count
                limit = now + PATIENCE_S
            stop.wait(descriptor, None if limit is None else max(limit - now, 0.05))
            snapshot()
    finally:
        os.close(descriptor)
