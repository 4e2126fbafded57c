# SPDX-License-Identifier: Apache-2.0
"""`rclrt simulate`: what `rclrt run` would measure, from the simulator of the executors."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rclrt_cli.comparison import load_single_run
from rclrt_cli.executors import check_executor
from rclrt_cli.measure import (
    ANY_CHAIN,
    Measurement,
    add_priorities_argument,
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

HELP = "simulate an application under one executor: no ROS, no waiting, repeatable"
PASSED_ON = (
    "seed",
    "execution_from",
    "dispatch_us",
    "scheduler_us",
    "hop_us",
    "cpus",
    "priorities",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("app", metavar="APP", type=Path, help="the application, an app.yaml")
    add_priorities_argument(parser)
    parser.add_argument("--executor", metavar="X", required=True, help="for example preemptive")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="where results go")
    parser.add_argument(
        "--seconds", metavar="S", type=seconds_argument, default=10.0, help="default 10"
    )
    parser.add_argument("--seed", metavar="N", help="of the random numbers; default 0")
    parser.add_argument(
        "--execution-from",
        metavar="SHARE",
        help="execution times are uniform from this share of the WCET (0 to 1) up to the WCET; "
        "default 1: always the WCET",
    )
    parser.add_argument(
        "--dispatch-us", metavar="T", help="CPU time to dispatch an instance; default 0"
    )
    parser.add_argument(
        "--scheduler-us",
        metavar="T",
        help="CPU time of the scheduler thread per instance, where there is one; default 0",
    )
    parser.add_argument("--hop-us", metavar="T", help="a message takes up to T; default 0")
    parser.add_argument(
        "--cpus", metavar="N", help="CPUs of executors that the application gives none; default 1"
    )
    parser.add_argument(
        "--fail-on-miss",
        metavar="CHAIN",
        nargs="?",
        const=ANY_CHAIN,
        help="exit with 1 when CHAIN (or any chain) missed a deadline",
    )


def run(arguments: argparse.Namespace) -> int:
    executor = check_executor(arguments.executor)
    seconds: float = arguments.seconds
    check_run_seconds(seconds)
    options: list[str] = []
    for name in PASSED_ON:
        value = getattr(arguments, name)
        if value is not None:
            options += [f"--{name.replace('_', '-')}", str(value)]
    progress = Progress(sys.stderr, seconds)
    with StopSignals() as stop:
        simulation = Measurement(
            arguments.app,
            False,
            [],
            stop,
            progress,
            arguments.priorities,
            simulation_options=options,
        )
        simulation.check_chain(arguments.fail_on_miss)
        with claimed(arguments.out, Plan("run", (executor,), 1, seconds)) as directory:
            simulation.write_application(directory)
            made, _ = simulation.run(executor, seconds, directory)
            if made is None:
                progress.say("rclrt: stopped before the simulation ended; nothing was written")
                return stop.exit_code
            progress.say(f"{executor}  {outcome(Run.load(made))}")
            move_up(made, directory)
            comparison = load_single_run(directory)
            write_atomically(directory / REPORT, make_report(comparison, directory))
        print_table(comparison, sys.stdout, os.environ)
        for line in miss_lines(directory):
            print(line)
        print(f"\n{directory / REPORT}")
        return verdict(comparison, arguments.fail_on_miss)
