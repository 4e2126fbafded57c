# SPDX-License-Identifier: Apache-2.0
"""Calls the program that reads traces."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rclrt_py.errors import EXIT_BAD_INPUT, BadInput, RunFailed
from rclrt_py.processes.runner import find_program

PACKAGE = "rclrt_trace"


def add_host_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options about the clocks of several hosts."""
    parser.add_argument(
        "--clock",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="file of rclrt clock --out that ran on a traced host meanwhile; may be given again",
    )
    parser.add_argument(
        "--drift",
        metavar="PPM",
        help="largest rate at which each host's clock is wrong or slewed, in millionths "
        "(default: 500, as ntpd slews; chrony may slew faster after boot)",
    )


def host_options(arguments: argparse.Namespace) -> list[str]:
    """Returns the program's options for these arguments. Throws BadInput."""
    options = [] if arguments.drift is None else ["--drift", arguments.drift]
    for file in arguments.clock:
        if not file.is_file():
            raise BadInput(f"--clock {file}: no such file; expected one of rclrt clock --out")
        if "," in str(file):
            raise BadInput(f"--clock {file}: expected a name without a comma")
    if arguments.clock:
        options += ["--clock", ",".join(map(str, arguments.clock))]
    return options


def read(verb: str, traces: Sequence[Path], options: Sequence[str]) -> str:
    """Runs the program rclrt_trace, shows its notes and returns its standard output.

    Throws BadInput if the program refuses the traces.
    """
    for trace in traces:
        if not trace.is_dir():
            what = "is not a directory" if trace.exists() else "no such directory"
            raise BadInput(f"{trace}: {what}; expected one with an LTTng trace in or below it")
    program = find_program(os.environ, PACKAGE, PACKAGE)
    done = subprocess.run(
        [str(program), verb, *map(str, traces), *options],
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
