# SPDX-License-Identifier: Apache-2.0
"""`rclrt run`: one application under one executor."""

from __future__ import annotations

import argparse
import os
import sys

from rclrt_cli.bounds.comparing import add_to_results_file, bound_lines
from rclrt_cli.comparison import load_single_run
from rclrt_cli.executors import check_executor
from rclrt_cli.measure import (
    Measurement,
    add_bounds_arguments,
    add_common_arguments,
    check_run_seconds,
    outcome,
    seconds_argument,
    verdict,
)
from rclrt_cli.misses import miss_lines
from rclrt_cli.output_directory import REPORT, Plan, claimed, move_up, write_atomically
from rclrt_cli.progress import Progress
from rclrt_cli.report.page import make_report
from rclrt_cli.run_data import Run
from rclrt_cli.stop_signals import StopSignals
from rclrt_cli.table import print_table

HELP = "run an application under one executor and measure it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_common_arguments(parser)
    add_bounds_arguments(parser)
    parser.add_argument("--executor", metavar="X", required=True, help="for example preemptive")
    parser.add_argument(
        "--seconds", metavar="S", type=seconds_argument, default=10.0, help="default 10"
    )


def run(arguments: argparse.Namespace) -> int:
    executor = check_executor(arguments.executor)
    seconds: float = arguments.seconds
    check_run_seconds(seconds)
    progress = Progress(sys.stderr, seconds)
    with StopSignals() as stop:
        measurement = Measurement.asked_for(arguments, (executor,), stop, progress)
        measurement.check_chain(arguments.fail_on_miss)
        with claimed(arguments.out, Plan("run", (executor,), 1, seconds)) as directory:
            measurement.write_application(directory)
            progress.step(executor, seconds)
            made, complete = measurement.run(executor, seconds, directory)
            if made is None:
                progress.say("rclrt: stopped before anything was measured; nothing was written")
                return stop.exit_code
            progress.finished(outcome(Run.load(made)))
            move_up(made, directory)
            comparison = load_single_run(directory)
            if measurement.expected:
                add_to_results_file(directory, comparison.executors[0])
            write_atomically(directory / REPORT, make_report(comparison, directory))
        print_table(comparison, sys.stdout, os.environ)
        for line in bound_lines(comparison.executors):
            print(line)
        for line in miss_lines(directory):
            print(line)
        print(f"\n{directory / REPORT}")
        if not complete:
            duration = comparison.executors[0].duration_s
            print(f"rclrt: stopped after {duration:.1f} of {seconds:g} s", file=sys.stderr)
            return stop.exit_code
        return verdict(comparison, arguments.fail_on_miss)
