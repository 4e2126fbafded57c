# SPDX-License-Identifier: Apache-2.0
"""`rclrt calibrate`: measures what dispatching, timers and messages cost on this machine."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rclrt_py.arguments import seconds_argument
from rclrt_py.bounds.machine import HOPS
from rclrt_py.calibration.calibration import Calibration
from rclrt_py.errors import EXIT_OK, BadInput
from rclrt_py.executors import EXECUTORS, parse_executors
from rclrt_py.files.atomic import check_file, write_atomically
from rclrt_py.processes.runner import find_runner
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.terminal.progress import Progress
from rclrt_py.terminal.table import Columns

HELP = "measure this machine's overheads, for rclrt analyze --overheads"
MIN_SECONDS = 1.0
MAX_MESSAGE_BYTES = 10_000_000
COLUMNS = ("n", "min", "p50", "p99", "max", "max_undisturbed", "disturbed")
WIDTHS = Columns(40, *[16] * len(COLUMNS))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="write the overheads to this file, as JSON",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=seconds_argument,
        default=10.0,
        help="seconds to measure each executor, and the messages between processes; default 10",
    )
    parser.add_argument(
        "--executors",
        metavar="A,B,...",
        default=",".join(EXECUTORS),
        help="measure the overheads of these executors; default: all of them",
    )
    parser.add_argument(
        "--cpu", metavar="N", type=int, help="measure on this CPU; default: the last one"
    )
    parser.add_argument(
        "--message-bytes",
        metavar="N",
        type=int,
        default=1000,
        help="size of the messages in bytes; dispatch times include publishing and taking them; "
        "default 1000",
    )


def run(arguments: argparse.Namespace) -> int:
    executors = parse_executors(arguments.executors)
    for name in executors:
        if name not in EXECUTORS:
            raise BadInput(f"calibrate: {name}: expected the kind of an executor, without options")
    cpus = sorted(os.sched_getaffinity(0))
    cpu = cpus[-1] if arguments.cpu is None else arguments.cpu
    _check(arguments, cpu, cpus)
    program = find_runner(os.environ)
    seconds: float = arguments.seconds
    progress = Progress(sys.stderr, seconds * (len(executors) + 1))
    with StopSignals() as stop, tempfile.TemporaryDirectory(prefix="rclrt-calibrate-") as name:
        calibration = Calibration(
            program, Path(name), seconds, cpu, cpus, arguments.message_bytes, stop, progress
        )
        if not calibration.measure_all(executors):
            print("rclrt: stopped before the end; nothing was written", file=sys.stderr)
            return stop.exit_code
    overheads = calibration.to_json()
    for line in lines(overheads):
        print(line)
    if arguments.output:
        write_atomically(arguments.output, json.dumps(overheads, indent=1) + "\n")
        print(f"\n{arguments.output}")
    return EXIT_OK


def _check(arguments: argparse.Namespace, cpu: int, cpus: list[int]) -> None:
    """Rejects, before anything is measured, options that cannot be used."""
    if arguments.output:
        check_file("-o", arguments.output)
    if arguments.seconds < MIN_SECONDS:
        raise BadInput(f"--seconds {arguments.seconds:g}: expected at least {MIN_SECONDS:g}")
    if cpu not in cpus:
        raise BadInput(
            f"--cpu {cpu}: this process may not use it; expected one of "
            f"{', '.join(str(each) for each in cpus)}"
        )
    if not 0 <= arguments.message_bytes <= MAX_MESSAGE_BYTES:
        raise BadInput(f"--message-bytes: expected 0 to {MAX_MESSAGE_BYTES}")


def lines(overheads: dict[str, Any]) -> Iterator[str]:
    """Yields a table of all values, in microseconds."""
    yield WIDTHS.line("µs", *COLUMNS)
    for executor, stated in overheads["executors"].items():
        for name, value in stated.items():
            yield _line(f"{executor} {_words(name)}", value)
    for name in HOPS:
        if name in overheads["hop_us"]:
            yield _line(f"hop {_words(name)}", overheads["hop_us"][name])
        else:
            yield f"hop {_words(name)}: no message came; try again with more --seconds"
    yield _line("background, each ms", overheads["background_us"])
    yield ""
    yield (
        f"{overheads['seconds']:g} s on CPU {overheads['machine']['cpu']}, messages of "
        f"{overheads['machine']['message_bytes']} bytes; stolen by the host: "
        f"{overheads['steal_ms']:g} ms, stalls of the host: {overheads['host_stalls']}"
    )
    if "rt_bandwidth" in overheads:
        given = overheads["rt_bandwidth"]
        yield (
            f"Real-time threads get {100 * given['share']:.1f} % of a CPU that they keep busy; the "
            f"longest wait was {given['longest_wait_us'] / 1e3:.1f} ms."
        )
    if not overheads["realtime"]:
        yield "Not real-time: nothing here says what SCHED_FIFO would give."


def _words(name: str) -> str:
    return name.removesuffix("_us").replace("_", " ")


def _line(name: str, value: dict[str, Any]) -> str:
    cells = ("-" if key not in value else f"{value[key]:g}" for key in COLUMNS)
    return WIDTHS.line(name, *cells)
