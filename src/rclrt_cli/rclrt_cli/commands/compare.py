# SPDX-License-Identifier: Apache-2.0
"""`rclrt compare`: one application under several executors, in interleaved rounds A B C A B C."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

from rclrt_py.arguments import check_run_seconds, seconds_argument
from rclrt_py.errors import BadInput, RclrtError
from rclrt_py.executors import ALL, COMPARED, EXECUTORS, OPTIONS_HELP, kind_of, parse_executors
from rclrt_py.files.atomic import move_into_place, replacing, write_atomically
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.runs.application import on_several_cpus
from rclrt_py.runs.output_directory import REPORT, Plan, claimed
from rclrt_py.runs.run_data import RESULTS, TRACE, Run
from rclrt_py.terminal.progress import Progress

from rclrt_cli.bounds.comparing import bound_lines
from rclrt_cli.comparison import MAX_ROUNDS, Comparison, merge_directory, round_directory
from rclrt_cli.comparison_table import print_table
from rclrt_cli.measure import Measurement, outcome, verdict
from rclrt_cli.options import bounds as bounds_options
from rclrt_cli.options import run as run_options
from rclrt_cli.report.page import make_report

HELP = "compare executors on one application, in interleaved rounds"
TRAILING = "ROS arguments"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    run_options.add_arguments(parser)
    bounds_options.add_arguments(parser)
    parser.add_argument(
        "--executors",
        metavar="A,B,...",
        default=",".join(COMPARED),
        help=f"of {', '.join(EXECUTORS)}, or {ALL}; default: {','.join(COMPARED)}; "
        f"{OPTIONS_HELP}, for example wait_set,wait_set:threads=4. edf needs an application on "
        "one CPU",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=seconds_argument,
        default=10.0,
        help="measuring time of each executor, all rounds together; default 10",
    )
    parser.add_argument("--rounds", metavar="N", type=rounds_argument, default=2, help="default 2")


def rounds_argument(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_ROUNDS:
        return int(text)
    raise argparse.ArgumentTypeError(
        f"'{text}' is not a number of rounds; expected 1 to {MAX_ROUNDS}"
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
        measurement = Measurement.asked_for(arguments, plan.executors, stop, progress)
        measurement.check_chain(arguments.fail_on_miss)
        with claimed(arguments.out, plan) as directory:
            measurement.write_application(directory)
            failure = _measure(measurement, plan, directory)
            if not any(directory.glob(f"*/round-*/{RESULTS}")):
                if failure:
                    raise failure
                progress.say("rclrt: stopped before a round completed; nothing was written")
                return stop.exit_code
            progress.say("merging the rounds and writing the report")
            comparison = finish(directory, plan)
        print_table(comparison, sys.stdout, os.environ)
        for line in bound_lines(comparison.executors):
            print(line)
        print(f"\n{directory / REPORT}")
        if failure:
            print(f"rclrt: {failure}", file=sys.stderr)
            return failure.exit_code
        if comparison.missing:
            print(f"rclrt: stopped; {_missing(comparison)}", file=sys.stderr)
            return stop.exit_code
        return verdict(comparison, arguments.fail_on_miss)


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


def finish(directory: Path, plan: Plan) -> Comparison:
    """Merges the rounds that completed and writes results.json, the trace and the report."""
    comparison = merge_directory(directory, plan.executors, plan.rounds, plan.seconds)
    _join_traces(comparison, directory)
    write_atomically(directory / REPORT, make_report(comparison, directory))
    write_atomically(directory / RESULTS, json.dumps(comparison.to_json(), indent=1) + "\n")
    return comparison


def _measure(measurement: Measurement, plan: Plan, directory: Path) -> RclrtError | None:
    """Measures every round of every executor. Stops early if the user asks for it or a run
    fails."""
    share = plan.seconds / plan.rounds
    for number in range(1, plan.rounds + 1):
        for executor in plan.executors:
            measurement.progress.step(f"round {number}/{plan.rounds}  {executor:<17}", share)
            try:
                made, complete = measurement.run(executor, share, directory)
            except RclrtError as error:
                measurement.progress.say(f"round {number}, {executor}: failed")
                return error
            if made is None or not complete:
                measurement.progress.say(f"round {number}, {executor}: stopped, not counted")
                return None
            place = round_directory(directory, executor, number)
            move_into_place(made, place)
            measurement.progress.finished(outcome(Run.load(place)))
            if measurement.stop.requested:
                return None
    return None


def _join_traces(comparison: Comparison, directory: Path) -> None:
    """Writes one trace with the first round of every executor.

    A Perfetto trace is a repeated protobuf field, so traces can be joined end to end.
    """
    traces = [runs[0].directory / TRACE for runs in comparison.runs.values()]
    with replacing(directory / TRACE) as joined:
        for trace in traces:
            if trace.is_file():
                with trace.open("rb") as stream:
                    shutil.copyfileobj(stream, joined)


def _missing(comparison: Comparison) -> str:
    rounds = ", ".join(
        f"{missing.executor} round {missing.round}" for missing in comparison.missing
    )
    return f"kept what was complete, missing: {rounds}"
