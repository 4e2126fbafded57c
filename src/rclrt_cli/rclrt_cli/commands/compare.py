# SPDX-License-Identifier: Apache-2.0
"""`rclrt compare`: one application under several executors, in interleaved rounds A B C A B C."""

from __future__ import annotations

import argparse
import sys

from rclrt_py.arguments import check_run_seconds, seconds_argument, whole_number
from rclrt_py.comparisons.comparison import MAX_ROUNDS, Comparison
from rclrt_py.comparisons.rounds import has_rounds, measure_rounds
from rclrt_py.errors import BadInput
from rclrt_py.executors import ALL, COMPARED, EXECUTORS, OPTIONS_HELP, kind_of, parse_executors
from rclrt_py.options import bounds as bounds_options
from rclrt_py.options import run as run_options
from rclrt_py.options.run import input_files, measurement_of
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.report.writing import finish_comparison
from rclrt_py.runs.application import on_several_cpus
from rclrt_py.runs.output_directory import REPORT, Plan, claimed
from rclrt_py.terminal.progress import Progress

from rclrt_cli.printing import exit_code, print_comparison

HELP = "compare executors on one application, in interleaved rounds"
TRAILING = "ROS arguments"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    run_options.add_arguments(parser)
    bounds_options.add_arguments(parser)
    parser.add_argument(
        "--executors",
        metavar="A,B,...",
        default=",".join(COMPARED),
        help=f"compare these executors, of {', '.join(EXECUTORS)}, or {ALL}; default: "
        f"{','.join(COMPARED)}; {OPTIONS_HELP}, for example wait_set,wait_set:threads=4. edf needs "
        "an application on one CPU",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=seconds_argument,
        default=10.0,
        help="seconds to measure each executor, all rounds together; default 10",
    )
    parser.add_argument(
        "--rounds",
        metavar="N",
        type=whole_number("not a number of rounds", 1, MAX_ROUNDS),
        default=2,
        help="how many interleaved rounds the measuring time is divided into; default 2",
    )


def run(arguments: argparse.Namespace) -> int:
    plan = Plan(
        "comparison",
        _possible_executors(arguments),
        arguments.rounds,
        arguments.seconds,
    )
    check_run_seconds(plan.seconds / plan.rounds)
    progress = Progress(sys.stderr, plan.seconds * len(plan.executors))
    with StopSignals() as stop:
        measurement = measurement_of(arguments, plan.executors, stop, progress)
        measurement.check_chain(arguments.fail_on_miss)
        with claimed(arguments.out, plan, input_files(arguments)) as directory:
            measurement.write_application(directory)
            failure = measure_rounds(measurement, plan, directory)
            if not has_rounds(directory):
                if failure:
                    raise failure
                progress.say("rclrt: stopped before a round completed; nothing was written")
                return stop.exit_code
            progress.say("merging the rounds and writing the report")
            comparison = finish_comparison(directory, plan)
        print_comparison(comparison)
        print(f"\n{directory / REPORT}")
        if failure:
            print(f"rclrt: {failure}", file=sys.stderr)
            return failure.exit_code
        if comparison.missing:
            print(f"rclrt: stopped; {_missing(comparison)}", file=sys.stderr)
            return stop.exit_code
        return exit_code(comparison, arguments.fail_on_miss)


def _possible_executors(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Returns the requested executors. `all` has no edf if an executor states several CPUs."""
    executors = parse_executors(arguments.executors)
    by_deadline = [name for name in executors if kind_of(name).by_deadline]
    busy = on_several_cpus(arguments.app) if by_deadline else None
    if busy is None:
        return executors
    reason = f"edf runs on one CPU, and executor '{busy}' of {arguments.app} states several"
    if arguments.executors.strip() != ALL:
        raise BadInput(f"{reason}\n  fix: leave edf out, or state one CPU")
    print(f"rclrt: {reason}; it is left out", file=sys.stderr)
    return tuple(name for name in executors if name not in by_deadline)


def _missing(comparison: Comparison) -> str:
    rounds = ", ".join(
        f"{missing.executor} round {missing.round}" for missing in comparison.missing
    )
    return f"kept what was complete, missing: {rounds}"
