# SPDX-License-Identifier: Apache-2.0
"""`rclrt latency`: how late this machine's threads wake up, or how long slices of a trace took."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rclrt_py.errors import EXIT_OK, BadInput
from rclrt_py.files.atomic import check_file, write_atomically
from rclrt_py.processes.runner import find_program
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.terminal.table import Paint

from rclrt_latency import slice_view
from rclrt_latency.measuring import measure
from rclrt_latency.plot import Curve, histogram_picture
from rclrt_latency.table import lines
from rclrt_latency.trace_slices import read_slices
from rclrt_latency.wake_ups import WakeUps

HELP = "how late this machine's threads wake up, or how long slices of a trace took"
PACKAGE = "rclrt_latency"
COMPARED_ROUNDS = "5"
VALUES = (
    ("policy", "NAME", "fifo (default), rr, other or deadline"),
    ("priority", "N", "of fifo and rr, 1 to 99, default 80"),
    ("cpus", "N,N,...", "a thread on each of these CPUs; default: on all"),
    ("interval", "US", "between wake-ups, default 1000"),
    ("seconds", "S", "of each policy, default 10"),
    ("loops", "N", "of each thread in each round, instead of --seconds"),
    ("rounds", "N", f"of each policy, default 1, and {COMPARED_ROUNDS} with --compare"),
    ("stalls", "METHOD", "how stalls of the machine are found: probe (default), spin or none"),
    ("stall-threshold", "US", "from which on a stall counts: default 200, with spin 50"),
    ("break-above", "US", "stop at a later wake-up with a trace of the last seconds; exit code 1"),
    ("dump-directory", "DIR", "where that trace goes, default ."),
    ("histogram-log", "FILE", "an HdrHistogram log with an interval per second"),
)
FLAGS = (
    ("stress", "a busy process on each CPU meanwhile"),
    ("no-dma-latency", "let CPUs sleep as deeply as they like"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "trace",
        metavar="TRACE",
        nargs="?",
        type=Path,
        help="show the slices of this Perfetto trace; default: measure wake-ups",
    )
    of_trace = parser.add_argument_group(
        "with TRACE (without both options: a list of its tracks and slices)"
    )
    of_trace.add_argument(
        "--track", metavar="NAME", help="track of the trace, such as the name of a thread"
    )
    of_trace.add_argument("--slice", metavar="NAME", help="name of the slices on that track")
    group = parser.add_argument_group("measuring")
    for name, metavar, text in VALUES:
        group.add_argument(f"--{name}", metavar=metavar, help=text)
    for name, text in FLAGS:
        group.add_argument(f"--{name}", action="store_true", help=text)
    group.add_argument(
        "--compare", metavar="A,B,...", help="measure several policies in turn, such as other,fifo"
    )
    parser.add_argument(
        "--plot",
        metavar="FILE.svg",
        type=Path,
        help="write a picture of the histogram (SVG) to this file",
    )
    parser.add_argument(
        "--json", metavar="FILE", type=Path, help="write the measured numbers (JSON) to this file"
    )


def run(arguments: argparse.Namespace) -> int:
    for option in ("plot", "json"):
        if getattr(arguments, option):
            check_file(f"--{option}", getattr(arguments, option), [arguments.trace])
    if arguments.trace is not None:
        return _show_trace(arguments)
    if arguments.track is not None or arguments.slice is not None:
        raise BadInput(
            "--track and --slice select from a Perfetto trace; add the file of the trace"
        )
    return _measure(arguments)


def _measure(arguments: argparse.Namespace) -> int:
    options = program_options(arguments)
    if arguments.histogram_log is not None:
        check_file("--histogram-log", Path(arguments.histogram_log))
    program = find_program(os.environ, PACKAGE, PACKAGE)
    live = ["--live"] if sys.stderr.isatty() else []
    with StopSignals() as stop:
        code, text = measure([str(program), *options, *live], stop)
    wake_ups = WakeUps.parse(text)
    paint = Paint.of(sys.stdout, os.environ)
    for line in lines(wake_ups, paint):
        print(line)
    if arguments.json:
        write_atomically(arguments.json, text)
    if arguments.plot:
        curves = [Curve(each.policy, each.bins()) for each in wake_ups.series if each.bins()]
        write_atomically(arguments.plot, histogram_picture(wake_ups.title(), curves))
    return code


def program_options(arguments: argparse.Namespace) -> list[str]:
    """The program's own command line. Throws BadInput."""
    stated = vars(arguments)
    options: list[str] = []
    for name, _, _ in VALUES:
        value = stated[name.replace("-", "_")]
        if value is not None:
            options += [f"--{name}", value]
    options += [f"--{name}" for name, _ in FLAGS if stated[name.replace("-", "_")]]
    if arguments.compare is None:
        return options
    if arguments.policy is not None:
        raise BadInput("--compare and --policy: expected one of the two")
    if "," not in arguments.compare:
        raise BadInput(f"--compare {arguments.compare}: expected two policies, such as other,fifo")
    rounds = [] if arguments.rounds is not None else ["--rounds", COMPARED_ROUNDS]
    return [*options, "--policy", arguments.compare, *rounds]


def _show_trace(arguments: argparse.Namespace) -> int:
    _refuse_measuring(arguments)
    slices = read_slices(arguments.trace)
    if arguments.track is None or arguments.slice is None:
        if arguments.plot or arguments.json:
            raise BadInput("--plot and --json: expected --track and --slice, too")
        _print(slice_view.overview(slices, arguments.track, arguments.slice))
        return EXIT_OK
    view = slice_view.select(slices, arguments.track, arguments.slice)
    _print(view.lines())
    if arguments.json:
        write_atomically(arguments.json, json.dumps(view.to_json(), indent=1) + "\n")
    if arguments.plot:
        curve = Curve(arguments.slice, view.bins())
        title = f"{arguments.track}: {arguments.slice}"
        write_atomically(arguments.plot, histogram_picture(title, [curve]))
    return EXIT_OK


def _refuse_measuring(arguments: argparse.Namespace) -> None:
    stated = vars(arguments)
    for name in (*(name for name, _, _ in VALUES), *(name for name, _ in FLAGS), "compare"):
        if stated[name.replace("-", "_")] not in (None, False):
            raise BadInput(
                f"--{name} is for a measurement, not for a trace; leave out the option or "
                f"{arguments.trace}"
            )


def _print(text: Sequence[str]) -> None:
    for line in text:
        print(line)
