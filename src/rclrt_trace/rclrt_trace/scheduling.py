# SPDX-License-Identifier: Apache-2.0
"""Records when threads have a CPU, beside an LTTng session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rclrt_cli.parent_death import end_with_parent
from rclrt_cli.runner import find_program

from rclrt_trace.reader import PACKAGE

PATIENCE_S = 20.0


class Scheduling:
    """Into `directory`, of everything that the main thread starts while this is entered.

    Where the kernel refuses, that is said, and the trace goes without.
    """

    def __init__(self, directory: Path, most_mb: int) -> None:
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
            start_new_session=True,  # a Ctrl-C is for the command that is traced
            preexec_fn=end_with_parent(),
        )  # fmt: skip
        self._recorder = recorder
        assert recorder.stdout is not None
        if recorder.stdout.readline() != "ready\n":
            self._end("execution times will be wall time")
        return self

    def __exit__(self, *_: object) -> None:
        if self._recorder is not None:
            self._end("execution times are missing from there on")

    def _end(self, without: str) -> None:
        assert self._recorder is not None
        try:
            _, said = self._recorder.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._recorder.kill()
            _, said = self._recorder.communicate()
        if self._recorder.returncode != 0:
            why = said.strip().removeprefix(f"{PACKAGE}: ")
            print(f"rclrt: note: no scheduling events: {why}; {without}", file=sys.stderr)
        self._recorder = None
