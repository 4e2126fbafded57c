# SPDX-License-Identifier: Apache-2.0
"""Records when threads have a CPU, beside an LTTng session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rclrt_py.processes.parent_death import end_with_parent
from rclrt_py.processes.runner import find_program

from rclrt_trace.reader import PACKAGE

PATIENCE_S = 20.0


class Scheduling:
    """Records the scheduling events of all processes that start in the `with` block.

    Only processes that the main thread starts are recorded, into `directory`. If the kernel
    refuses, a note is printed, and the trace has no scheduling events. Later failures are added to
    `losses`.
    """

    def __init__(self, directory: Path, most_mb: int, losses: list[str]) -> None:
        self._losses = losses
        self._directory = directory
        self._most_mb = most_mb
        self._recorder: subprocess.Popen[str] | None = None

    def __enter__(self) -> Scheduling:
        program = find_program(os.environ, PACKAGE, PACKAGE)
        recorder = subprocess.Popen(
            [
                str(program), "scheduling", str(os.getpid()),
                "--out", str(self._directory), "--most-mb", str(self._most_mb),
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,  # Ctrl-C must reach only the traced command
            preexec_fn=end_with_parent(),
        )  # fmt: skip
        self._recorder = recorder
        assert recorder.stdout is not None
        if recorder.stdout.readline() != "ready\n":
            why = self._end()
            print(
                f"rclrt: note: no scheduling events: {why}; execution times will be wall time",
                file=sys.stderr,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._recorder is not None and (why := self._end()):
            self._losses.append(
                f"scheduling events: {why}; execution times are missing from there on"
            )

    def _end(self) -> str:
        """Ends the recorder. Returns the reason if it failed, else an empty text."""
        recorder = self._recorder
        assert recorder is not None
        self._recorder = None
        try:
            _, said = recorder.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            recorder.kill()
            _, said = recorder.communicate()
        if recorder.returncode == 0:
            return ""
        if recorder.returncode < 0:
            return f"their recorder was ended by signal {-recorder.returncode}"
        return said.strip().removeprefix(f"{PACKAGE}: ")
