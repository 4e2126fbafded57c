# SPDX-License-Identifier: Apache-2.0
"""Calls the program that reads traces."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rclrt_py.errors import EXIT_BAD_INPUT, BadInput, RunFailed
from rclrt_py.processes.runner import find_program

PACKAGE = "rclrt_trace"


def read(verb: str, trace: Path, options: Sequence[str]) -> str:
    """Runs the program rclrt_trace, shows its notes and returns its standard output.

    Throws BadInput if the program refuses the trace.
    """
    if not trace.is_dir():
        what = "is not a directory" if trace.exists() else "no such directory"
        raise BadInput(f"{trace}: {what}; expected one with an LTTng trace in or below it")
    program = find_program(os.environ, PACKAGE, PACKAGE)
    done = subprocess.run(
        [str(program), verb, str(trace), *options],
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    said = done.stderr.strip()
    if done.returncode == EXIT_BAD_INPUT:
        raise BadInput(said.removeprefix(f"{PACKAGE}: "))
    if done.returncode != 0:
        raise RunFailed(f"{PACKAGE} ended with exit code {done.returncode} and printed:\n{said}")
    if said:
        print(said, file=sys.stderr)
    return done.stdout
