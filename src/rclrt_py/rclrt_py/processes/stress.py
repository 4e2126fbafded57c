# SPDX-License-Identifier: Apache-2.0
"""Stress during a measurement: processes of normal priority keep every CPU busy."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from rclrt_py.errors import RunFailed

STRESS_NG = "stress-ng"
BUSY_PROCESS = Path(__file__).with_name("busy_process.py")
PATIENCE_S = 5.0
"""How long stress-ng may take to end its workers before it is killed."""


class Stress:
    """A context manager that keeps all CPUs busy in its block, with one process per CPU: `stress-ng
    -c N` if it is installed, otherwise processes of rclrt.

    The processes end with the block, and also if this process is killed. Throws RunFailed if one of
    them does not start.
    """

    def __init__(self, program: str | None = None, *, writes: bool = False) -> None:
        """`program` is the path of stress-ng. None: stress-ng from PATH, if there is one; "":
        processes of rclrt. With `writes`, one more process writes to the disk."""
        self.cpus = len(os.sched_getaffinity(0))
        self._program = shutil.which(STRESS_NG) if program is None else program
        self._writes = writes
        self._children: list[subprocess.Popen[str]] = []

    @property
    def label(self) -> str:
        if self._program:
            return f"{STRESS_NG} -c {self.cpus}{' -i 1' if self._writes else ''}"
        busy = f"{self.cpus} busy process{'es' if self.cpus != 1 else ''}"
        return f"{busy}, one that writes" if self._writes else busy

    @property
    def process_ids(self) -> list[int]:
        return [child.pid for child in self._children]

    def __enter__(self) -> Stress:
        try:
            if self._program:
                writers = ["--io", "1"] if self._writes else []
                self._start(
                    "run",
                    [self._program, "--quiet", "--cpu", str(self.cpus), *writers, "--timeout", "0"],
                )
            else:
                for what in ["loop"] * self.cpus + ["write"] * self._writes:
                    self._start(what)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def check(self) -> None:
        """Throws RunFailed if a process has ended: the measurement was not under stress."""
        for child in self._children:
            code = child.poll()
            if code is not None:
                raise RunFailed(
                    f"the stress ({self.label}) ended during the measurement with exit code "
                    f"{code}; expected it to run until the end\n  fix: try again, or without "
                    "stress-ng on PATH"
                )

    def _start(self, what: str, command: Sequence[str] = ()) -> None:
        # A session of its own: a Ctrl-C of the terminal ends the measurement first.
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(BUSY_PROCESS), str(os.getpid()), what, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )
        self._children.append(child)
        assert child.stdout is not None
        if child.stdout.readline() != "started\n":
            raise RunFailed(f"the stress ({self.label}) did not start: exit code {child.wait()}")

    def _stop(self) -> None:
        for child in self._children:
            if self._program and child.poll() is None:
                child.terminate()
                _wait_for_end(child.pid)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)  # its workers, too
            child.wait()
            if child.stdout is not None:
                child.stdout.close()
        self._children.clear()


def _wait_for_end(process_id: int) -> None:
    """Waits, but leaves the process unreaped, so that its number is not used again."""
    descriptor = os.pidfd_open(process_id)
    try:
        select.select([descriptor], [], [], PATIENCE_S)
    finally:
        os.close(descriptor)
