# SPDX-License-Identifier: Apache-2.0
"""`rclrt run`: one application under one executor."""

from __future__ import annotations

import argparse
import sys

from rclrt_py.arguments import check_run_seconds, seconds_argument
from rclrt_py.comparisons.measurement import outcome
from rclrt_py.errors import RunFailed
from rclrt_py.executors import EXECUTORS, OPTIONS_HELP, check_executor
from rclrt_py.options import bounds as bounds_options
from rclrt_py.options import run as run_options
from rclrt_py.options.run import input_files, measurement_of
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.report.writing import finish_run
from rclrt_py.runs.output_directory import REPORT, Plan, claimed
from rclrt_py.runs.run_data import Run
from rclrt_py.terminal.progress import Progress

from rclrt_cli.printing import exit_code, print_run

HELP = "run an application under one executor and measure it"
TRAILING = "ROS arguments"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    run_options.add_arguments(parser)
    bounds_options.add_arguments(parser)
    parser.add_argument(
        "--executor",
        metavar="X",
        required=True,
        help=f"the executor: one of {', '.join(EXECUTORS)}; {OPTIONS_HELP}",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=seconds_argument,
        default=10.0,
        help="seconds to run; default 10",
    )


def run(arguments: argparse.Namespace) -> int:
    executor = check_executor(arguments.executor)
    seconds: float = arguments.seconds
    check_run_seconds(seconds)
    progress = Progress(sys.stderr, seconds)
    with StopSignals() as stop:
        measurement = measurement_of(arguments, (executor,), stop, progress)
        measurement.check_chain(arguments.fail_on_miss)
        run_plan = Plan("run", (executor,), 1, seconds)
        with claimed(arguments.out, run_plan, input_files(arguments)) as directory:
            measurement.write_application(directory)
            progress.step(executor, seconds)
            made, complete = measurement.run(executor, seconds, directory)
            if made is None:
                progress.say("rclrt: stopped before anything was measured; nothing was written")
                return stop.exit_code
            progress.finished(outcome(Run.load(made)))
            comparison = finish_run(measurement, made, directory)
        print_run(comparison, directory)
        print(f"\n{directory / REPORT}")
        if measurement.failure is not None:
            raise RunFailed(
                f"{measurement.failure}\n  the results of the first "
                f"{comparison.executors[0].duration_s:.1f} s are in {directory}"
            )
        if not complete:
            duration = comparison.executors[0].duration_s
            print(f"rclrt: stopped after {duration:.1f} of {seconds:g} s", file=sys.stderr)
            return stop.exit_code
        return exit_code(comparison, arguments.fail_on_miss)
