# SPDX-License-Identifier: Apache-2.0
"""`rclrt trace record` and `rclrt trace import`."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rclrt_cli.commands import report
from rclrt_cli.comparison_table import print_table
from rclrt_cli.report.page import make_report
from rclrt_py.arguments import seconds_argument
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput, RunFailed
from rclrt_py.executors import check_executor
from rclrt_py.files.atomic import write_atomically
from rclrt_py.processes.parent_death import end_with_parent
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.runs.application import describe_app_file
from rclrt_py.runs.output_directory import APPLICATION, REPORT
from rclrt_py.runs.run_data import MODEL

from rclrt_trace.losses import Watch, check_room, find_losses, tell
from rclrt_trace.preload import traceable
from rclrt_trace.reader import read
from rclrt_trace.scheduling import Scheduling
from rclrt_trace.session import Daemon, Session, require_lttng

HELP = "record what the callbacks of any ROS 2 node do, with LTTng, and read it as a run"
TRAILING = "COMMAND"
MEGABYTE = 1 << 20
PATIENCE_S = 20.0
"""Seconds that a command has to end after SIGINT, and again after SIGTERM."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="trace_verb", required=True, metavar="VERB")
    record = verbs.add_parser(
        "record", help="trace the command behind --, or what starts from now on"
    )
    record.add_argument("-o", "--out", metavar="DIR", type=Path, required=True, help="a new one")
    record.add_argument(
        "--seconds",
        metavar="S",
        type=seconds_argument,
        help="default: until the command, or you, end it",
    )
    record.add_argument(
        "--most-mb", metavar="MB", type=_megabytes, default=1024,
        help="bound of what running takes on disk (with --snapshot: in memory), from 16; the "
        "newest stays; default 1024",
    )  # fmt: skip
    record.add_argument(
        "--snapshot",
        action="store_true",
        help="keep the newest in memory and write it at the end, and at each SIGUSR1",
    )
    imports = verbs.add_parser("import", help="a trace as the results of a run, with a report")
    imports.add_argument("trace", metavar="TRACE", type=Path, help="a directory, searched below")
    imports.add_argument("--out", metavar="DIR", type=Path, required=True, help="for the results")
    imports.add_argument("--executor", metavar="X", help="what ran the callbacks; default wait_set")
    imports.add_argument("--name", metavar="NAME", help="default: that of the directory")


def run(arguments: argparse.Namespace) -> int:
    return _record(arguments) if arguments.trace_verb == "record" else _import(arguments)


def _megabytes(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 16 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 16 to 1000000")
    return int(text)


def _record(arguments: argparse.Namespace) -> int:
    require_lttng()
    command: list[str] = arguments.trailing
    if command and shutil.which(command[0]) is None:
        raise BadInput(f"{command[0]}: no such program; expected one to run behind --")
    out: Path = arguments.out
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"--out {out}: exists; expected a new or empty directory")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--out {out}: cannot be made: {error.strerror}") from error
    check_room(out, 0 if arguments.snapshot else arguments.most_mb)
    losses: list[str] = []
    try:
        code = _trace_into(out, command, arguments, losses)
    finally:
        # Reported also if the command failed; the caller reports that failure.
        if losses:
            tell(losses, out)
    print(f"{out}\nrclrt trace import {out} --out RESULTS")
    return EXIT_NO if losses and code == EXIT_OK else code


def _trace_into(
    out: Path, command: list[str], arguments: argparse.Namespace, losses: list[str]
) -> int:
    """Records into `out`. Returns the command's exit code; adds what was lost to `losses`."""
    # Scheduling events are recorded for a command and its children, not in a snapshot.
    of_scheduling = arguments.most_mb // 4 if command and not arguments.snapshot else 0
    most_bytes = (arguments.most_mb - of_scheduling) * MEGABYTE
    if not of_scheduling:
        what = "of a snapshot" if command else "without a command behind --"
        print(
            f"rclrt: note: no scheduling events {what}: execution times will be wall time",
            file=sys.stderr,
        )
    recorded = False
    try:
        with (
            _Snapshots(arguments.snapshot, losses) as snapshots,
            StopSignals() as stop,
            Daemon() as daemon,
            Session(out.resolve(), most_bytes, arguments.snapshot, losses) as session,
            Watch(daemon.pid, losses),
            Scheduling(out.resolve() / "scheduling", of_scheduling, losses)
            if of_scheduling
            else contextlib.nullcontext(),
        ):
            recorded = True
            code = _trace(command, arguments.seconds, stop, lambda: snapshots.take(session))
            if arguments.snapshot:
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
            "tracing what starts from now on; nodes that run already say nothing of their "
            "callbacks. Ctrl-C ends it",
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


def _import(arguments: argparse.Namespace) -> int:
    more = []
    if arguments.executor is not None:
        more += ["--executor", check_executor(arguments.executor)]
    if arguments.name is not None:
        more += ["--name", arguments.name]
    read("import", arguments.trace, ["--out", str(arguments.out), *more])
    application = describe_app_file(arguments.out / MODEL)
    if application is not None:
        write_atomically(arguments.out / APPLICATION, application.to_json())
    comparison = report.load(arguments.out)
    output = arguments.out / REPORT
    write_atomically(output, make_report(comparison, arguments.out, output))
    print_table(comparison, sys.stdout, os.environ)
    print(f"\n{output}")
    return EXIT_OK
