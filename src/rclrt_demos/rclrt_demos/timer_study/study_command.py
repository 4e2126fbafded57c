# SPDX-License-Identifier: Apache-2.0
"""`rclrt study timers`: which threads inherit a real-time policy, and its effect on timers."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rclrt_py.arguments import seconds_argument
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput, did_you_mean
from rclrt_py.files.atomic import check_file, write_atomically
from rclrt_py.processes.runner import find_program
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.processes.stress import STRESS_NG, Stress
from rclrt_py.terminal.table import fitted_lines

from rclrt_demos.timer_study.matrix import all_cases
from rclrt_demos.timer_study.report import LATENCIES, THREADS, Study, latency_rows, thread_rows
from rclrt_demos.timer_study.runs import Runs, Timers, installed_middlewares
from rclrt_demos.timer_study.writing import check_out, study_json, write_study

PACKAGE = "rclrt_demos"
BUILT_IN, NONE = "built-in", "none"
HELP = "a published study, repeated here: timers beside the threads that ROS starts"
MOST_ITERATIONS = 100_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY", choices=["timers"], help="which study to repeat")
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--seconds",
        metavar="S",
        type=seconds_argument,
        default=5.0,
        help="duration of each run in seconds; default 5",
    )
    length.add_argument(
        "--iterations",
        metavar="N",
        type=_iterations,
        help="number of timer releases in each run, instead of --seconds",
    )
    parser.add_argument(
        "--period-us",
        metavar="US",
        type=_period,
        default=1000,
        help="period of the timer in microseconds; default 1000",
    )
    parser.add_argument(
        "--priority",
        metavar="N",
        type=_priority,
        default=80,
        help="real-time priority of the measured thread, 1 to 99; default 80",
    )
    parser.add_argument(
        "--policy", choices=["rr", "fifo"], default="rr", help="real-time policy; default rr"
    )
    parser.add_argument(
        "--stress",
        choices=(BUILT_IN, STRESS_NG, NONE),
        default=BUILT_IN,
        help=f"default {BUILT_IN}",
    )
    parser.add_argument(
        "--rmw",
        metavar="NAME",
        action="append",
        help="use only this middleware; default: all that are found",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="directory for the page, the pictures and the CSV files",
    )
    parser.add_argument(
        "--json", metavar="FILE", type=Path, help="write the results of all runs to this file"
    )


def run(arguments: argparse.Namespace) -> int:
    environment = os.environ
    middlewares = _middlewares(arguments.rmw, installed_middlewares(environment))
    programs = {
        name: find_program(environment, PACKAGE, name)
        for name in dict.fromkeys(case.program for case in all_cases())
    }
    if arguments.json:
        check_file("--json", arguments.json)
    if arguments.out:
        check_out(arguments.out)
    stress = stress_of(arguments.stress)
    with StopSignals() as stop, tempfile.TemporaryDirectory(prefix="rclrt-study-") as name:
        runs = Runs(_timers(arguments), programs, Path(name), stop)
        with stress or contextlib.nullcontext():
            study = runs.measure(middlewares, stress.label if stress else "none")
        if stop.requested:
            print("rclrt: stopped; nothing was written", file=sys.stderr)
            return stop.exit_code
        if arguments.out:
            write_study(arguments.out, study, Path(name))
        if arguments.json:
            write_atomically(arguments.json, study_json(study))
    print_study(study)
    return EXIT_OK if study.as_stated else EXIT_NO


def _timers(arguments: argparse.Namespace) -> Timers:
    iterations: int | None = arguments.iterations
    if iterations is None:
        iterations = max(1, round(arguments.seconds * 1e6 / arguments.period_us))
    return Timers(iterations, arguments.period_us, arguments.policy, arguments.priority)


def stress_of(kind: str) -> Stress | None:
    """Returns None for none. Throws BadInput if stress-ng is asked for and not installed."""
    if kind == NONE:
        return None
    program = "" if kind == BUILT_IN else shutil.which(STRESS_NG)
    if program is None:
        raise BadInput(
            f"--stress {STRESS_NG}: the program {STRESS_NG} is not installed; install it "
            f"(apt install {STRESS_NG}), or choose {BUILT_IN}"
        )
    return Stress(program, writes=True)


def _middlewares(asked: Sequence[str] | None, found: Sequence[str]) -> list[str]:
    if not found:
        raise BadInput("no middleware was found on AMENT_PREFIX_PATH; source ROS 2")
    for name in asked or []:
        if name not in found:
            raise BadInput(
                f"--rmw {name}: is not installed{did_you_mean(name, found)}; "
                f"expected one of: {', '.join(found)}"
            )
    return list(dict.fromkeys(asked)) if asked else list(found)


def print_study(study: Study) -> None:
    print(study.conditions)
    print()
    for text in fitted_lines([THREADS, *thread_rows(study)], left=len(THREADS)):
        print(text)
    print("\nLatencies in µs:")
    for text in fitted_lines([LATENCIES, *latency_rows(study)], left=len(LATENCIES)):
        print(text)
    for failure in study.failures:
        print(f"\n{failure}")
    print(f"\nInheritance: {study.verdict()}")


def _number(text: str, least: int, most: int, what: str) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not {what}; expected a whole number from {least} to {most}"
        )
    return int(text)


def _iterations(text: str) -> int:
    return _number(text, 1, MOST_ITERATIONS, "a number of iterations")


def _period(text: str) -> int:
    return _number(text, 20, 10_000_000, "a period in µs")


def _priority(text: str) -> int:
    return _number(text, 1, 99, "a real-time priority")
