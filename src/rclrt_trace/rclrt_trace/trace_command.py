# SPDX-License-Identifier: Apache-2.0
"""`rclrt trace record` and `rclrt trace import`."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from rclrt_py.arguments import seconds_argument
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput
from rclrt_py.executors import check_executor
from rclrt_py.files.atomic import write_atomically
from rclrt_py.report.comparison_table import print_table
from rclrt_py.report.hops import hop_lines
from rclrt_py.report.writing import load_results, write_report
from rclrt_py.runs.application import describe_app_file
from rclrt_py.runs.output_directory import APPLICATION
from rclrt_py.runs.run_data import MODEL

from rclrt_trace.losses import check_room, tell
from rclrt_trace.reader import add_host_arguments, host_options, read
from rclrt_trace.recording import trace_into
from rclrt_trace.session import require_lttng

HELP = "record what the callbacks of any ROS 2 node do, with LTTng, and read it as a run"
TRAILING = "COMMAND"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="trace_verb", required=True, metavar="VERB")
    record = verbs.add_parser(
        "record", help="trace the command after --, or all programs that start from now on"
    )
    record.add_argument(
        "-o", "--out", metavar="DIR", type=Path, required=True, help="a new directory for the trace"
    )
    record.add_argument(
        "--seconds",
        metavar="S",
        type=seconds_argument,
        help="end the trace after this many seconds; default: when the command ends, or at Ctrl-C",
    )
    record.add_argument(
        "--most-mb", metavar="MB", type=_megabytes, default=1024,
        help="most megabytes of disk space (with --snapshot: of memory) for the events of running "
"programs, at least 16; when they are full, the oldest events are discarded; default 1024",
    )  # fmt: skip
    record.add_argument(
        "--snapshot",
        action="store_true",
        help="keep the newest events in memory, and write them at the end and at each SIGUSR1",
    )
    imports = verbs.add_parser(
        "import", help="convert a trace to the results of a run, with a report"
    )
    imports.add_argument(
        "traces",
        metavar="TRACE",
        type=Path,
        nargs="+",
        help="directory of the trace, or a directory above it; one for each host, to join them",
    )
    add_host_arguments(imports)
    imports.add_argument(
        "--out", metavar="DIR", type=Path, required=True, help="directory for the results"
    )
    imports.add_argument(
        "--executor",
        metavar="X",
        help="executor that ran the callbacks, as in rclrt run, if the trace does not state it; "
        "default wait_set",
    )
    imports.add_argument(
        "--name",
        metavar="NAME",
        help="name of the application in the results; default: the name of the directory",
    )


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
        raise BadInput(f"{command[0]}: no such program; expected a program after --")
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
        code = trace_into(
            out,
            command,
            losses,
            seconds=arguments.seconds,
            most_mb=arguments.most_mb,
            is_snapshot=arguments.snapshot,
        )
    finally:
        # Reported also if the command failed; the caller reports that failure.
        if losses:
            tell(losses, out)
    print(f"{out}\nrclrt trace import {out} --out RESULTS")
    return EXIT_NO if losses and code == EXIT_OK else code


def _import(arguments: argparse.Namespace) -> int:
    more = []
    if arguments.executor is not None:
        more += ["--executor", check_executor(arguments.executor)]
    if arguments.name is not None:
        more += ["--name", arguments.name]
    more += host_options(arguments)
    read("import", arguments.traces, ["--out", str(arguments.out), *more])
    application = describe_app_file(arguments.out / MODEL)
    if application is not None:
        write_atomically(arguments.out / APPLICATION, application.to_json())
    comparison = load_results(arguments.out)
    output = write_report(comparison, arguments.out)
    print_table(comparison, sys.stdout, os.environ)
    if comparison.executors[0].hosts:
        for line in hop_lines(comparison.executors[0]):
            print(line)
    print(f"\n{output}")
    return EXIT_OK
