# SPDX-License-Identifier: Apache-2.0
"""Stress for the time of a measurement: every CPU is busy with processes of normal priority."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from rclrt_cli.errors import RunFailed

BUSY_PROCESS = Path(__file__).with_name("busy_process.py")
PATIENCE_S = 5.0
"""How long stress-ng may take to end its workers before it is killed."""


class Stress:
    """While entered, one busy process per CPU: `stress-ng -c N` if installed, otherwise our own.

    They end on leaving, and also when this process is killed. Throws RunFailed if one does not
    start.
    """

    def __init__(self, program: str | None = None) -> None:
        """`program` is stress-ng's path; None: the one on PATH, and "" our own processes."""
        self.cpus = len(os.sched_getaffinity(0))
        self._program = shutil.which("stress-ng") if program is None else program
        self._children: list[subprocess.Popen[str]] = []

    @property
    def label(self) -> str:
        if self._program:
            return f"stress-ng -c {self.cpus}"
        return f"{self.cpus} busy process{'es' if self.cpus != 1 else ''}"

    @property
    def process_ids(self) -> list[int]:
        return [child.pid for child in self._children]

    def __enter__(self) -> Stress:
        commands: list[list[str]] = [[]] * self.cpus
        if self._program:
            commands = [[self._program, "--quiet", "--cpu", str(self.cpus), "--timeout", "0"]]
        try:
            for command in commands:
                self._start(command)
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
                    f"{code}; expected it to last\n  fix: try again, or without stress-ng on PATH"
                )

    def _start(self, command: list[str]) -> None:
        # A session of its own: a Ctrl-C of the terminal ends the measurement first.
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(BUSY_PROCESS), str(os.getpid()), *command],
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
    """Leaves the process unreaped, so that its number stays its own."""
    descriptor = os.pidfd_open(process_id)
    try:
        select.select([descriptor], [], [], PATIENCE_S)
    finally:
        os.close(descriptor)
