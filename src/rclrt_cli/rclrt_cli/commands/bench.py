# SPDX-License-Identifier: Apache-2.0
"""`rclrt bench`: compares every executor with the bare kernel and middleware."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rclrt_py.arguments import whole_number
from rclrt_py.bench.plots import write_plots
from rclrt_py.bench.rows import Benchmark
from rclrt_py.bench.tables import SAMPLES_FOR_P99, SAMPLES_FOR_P999, all_tables, conditions
from rclrt_py.bench.targets import targets
from rclrt_py.errors import EXIT_OK, BadInput
from rclrt_py.files.atomic import check_file, write_atomically
from rclrt_py.files.json_reader import read_text
from rclrt_py.processes.runner import find_program, run_child
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.terminal.progress import Progress

HELP = "measure the executors beside the bare kernel and middleware"
PACKAGE = "rclrt_bench"
QUICK_S, FULL_S = 60.0, 240.0
MOST_S = 86_400


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("benchmark", choices=["executors"], help="which benchmark")
    parser.add_argument(
        "--quick", action="store_true", help="measure for 1 minute instead of 4, with fewer samples"
    )
    parser.add_argument(
        "--quiet",
        action="store_true",
        help="keep each CPU busy under SCHED_IDLE, so that a virtual machine's host keeps it awake",
    )
    parser.add_argument(
        "--json", metavar="FILE", type=Path, help="write the measured rows to this file, as JSON"
    )
    parser.add_argument(
        "--plots",
        metavar="DIR",
        type=Path,
        help="write pictures (SVG), for example for a web page, to this directory",
    )
    parser.add_argument(
        "--cases", metavar="A,B", help="measure only these cases, for example burner"
    )
    parser.add_argument("--executors", metavar="A,B", help="measure only these executors")
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=whole_number("not a number of seconds", 1, MOST_S),
        help=f"measure for about this time; a 99th percentile needs {SAMPLES_FOR_P99} samples, a "
        f"99.9th {SAMPLES_FOR_P999}, and is not shown otherwise",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.json:
        check_file("--json", arguments.json)
    if arguments.plots and not arguments.plots.is_dir():
        raise BadInput(f"--plots {arguments.plots}: no such directory; make it first")
    program = find_program(os.environ, PACKAGE, arguments.benchmark)
    seconds = arguments.seconds or (QUICK_S if arguments.quick else FULL_S)
    with StopSignals() as stop, tempfile.TemporaryDirectory(prefix="rclrt-bench-") as name:
        logs = Path(name)
        progress = Progress(sys.stderr, seconds)
        progress.step(arguments.benchmark, seconds)
        tick = progress.tick if progress.live else None
        ended = run_child([str(program), *options(arguments)], logs, seconds, stop, tick)
        progress.clear()
        if ended.code != 0:
            print("rclrt: stopped before the end; nothing was written", file=sys.stderr)
            return stop.exit_code
        text = read_text(logs / "stdout.log")
        benchmark = Benchmark.load(logs / "stdout.log")
    for line in lines(benchmark):
        print(line)
    if arguments.json:
        write_atomically(arguments.json, text)
    if arguments.plots:
        write_plots(benchmark, arguments.plots)
    return EXIT_OK


def options(arguments: argparse.Namespace) -> list[str]:
    """Returns the command line of the program."""
    result = [f"--{name}" for name in ("quick", "quiet") if getattr(arguments, name)]
    for name in ("cases", "executors"):
        if getattr(arguments, name) is not None:
            result += [f"--{name}", getattr(arguments, name)]
    if arguments.seconds is not None:
        result += ["--seconds", str(arguments.seconds)]
    return result


def lines(benchmark: Benchmark) -> Iterator[str]:
    for table in (*all_tables(benchmark), targets(benchmark)):
        if table.rows:
            yield from table.text()
            yield ""
    if not benchmark.realtime:
        yield f"Not real-time: {benchmark.realtime_reason}"
    if benchmark.system_calls_reason:
        yield f"System calls were not counted: {benchmark.system_calls_reason}"
    yield conditions(benchmark)
