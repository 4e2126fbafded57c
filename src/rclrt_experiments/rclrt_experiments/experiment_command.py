# SPDX-License-Identifier: Apache-2.0
"""`rclrt experiment`: runs many applications under several executors and makes the page."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from rclrt_py.arguments import check_run_seconds, seconds_argument
from rclrt_py.errors import EXIT_ABOVE_BOUND, EXIT_OK, BadInput
from rclrt_py.options.overheads import add_file_arguments, overheads_file, overheads_file_of_runs
from rclrt_py.processes.runner import PACKAGE, find_program
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.runs.output_directory import REPORT

from rclrt_experiments.experiment import (
    MOST_TRIALS,
    THESIS,
    bundled,
    load_experiment,
    parse_executors,
)
from rclrt_experiments.generator.options import count_argument
from rclrt_experiments.journal import opened, overheads_of, plan_of
from rclrt_experiments.live import Live, alone, check_cpus
from rclrt_experiments.page import Page, write_page
from rclrt_experiments.runs import QUIET
from rclrt_experiments.settings import Settings, sweep_units
from rclrt_experiments.sweep import InProcess, add_backend_arguments, backend_of
from rclrt_py import __version__

QUICK_TRIALS, QUICK_SECONDS, TRIES = 1, 2.0, 3
HELP = "the thesis's experiments, and your own: many applications under several executors"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        help=f"the experiment: {', '.join(bundled())}; 'all': the {len(THESIS)} of the thesis; "
        "'beyond': the others; or the file of one",
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, required=True, help="directory for the results"
    )
    parser.add_argument(
        "--trials",
        metavar="N",
        type=count_argument,
        help="number of applications of each experiment",
    )
    parser.add_argument(
        "--seconds", metavar="S", type=seconds_argument, help="duration of each run in seconds"
    )
    parser.add_argument(
        "--executors",
        metavar="A,B,...",
        help="run under these executors; default: those that the experiment names",
    )
    parser.add_argument(
        "--simulate",
        action="store_true",
        help="simulate the runs instead of running them on ROS 2; needs no ROS and no real time",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"make {QUICK_TRIALS} trial of {QUICK_SECONDS:g} s, unless --trials or --seconds "
        "state more",
    )
    parser.add_argument(
        "--tries",
        metavar="N",
        type=count_argument,
        help=f"repeat a run in which the host took more than {100 * QUIET:g} %% of the time, "
        f"whatever its result; make at most N runs in all, default {TRIES}, and 1 with --quick",
    )
    add_file_arguments(parser)
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue the interrupted experiment in DIR; all other options must be the same",
    )
    add_backend_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    settings = settings_of(arguments)
    file = overheads_file(arguments) if arguments.simulate else overheads_file_of_runs(arguments)
    _check(arguments, settings)
    plan = plan_of(
        [each.experiment for each in settings],
        {each.experiment.name: each.trials for each in settings},
        {each.experiment.name: each.seconds for each in settings},
        {each.experiment.name: each.executors for each in settings},
        arguments.simulate,
        overheads_of(file),
        0 if arguments.simulate else _tries(arguments),
        __version__,
    )
    backend = backend_of(arguments) if arguments.simulate else InProcess()
    units = [unit for number, each in enumerate(settings) for unit in each.units(number)]
    with StopSignals() as stop, opened(arguments.out, plan, arguments.resume) as journal:
        page: Page | None = None
        failed = arguments.out / "failed.yaml"
        try:
            live = None if arguments.simulate else Live(stop, _tries(arguments), file, failed)
            with nullcontext() if arguments.simulate else alone(stop):
                sweep_units(backend, settings, units, journal, stop, live)
        finally:
            if journal.done:
                journal.write_rows(units)
                experiments = [each.experiment for each in settings]
                page = Page.load(arguments.out, experiments, lambda: stop.requested)
                write_page(arguments.out, page)
        left = len(units) - len(journal.in_order(units))
        if left:
            print(
                f"rclrt: stopped; {left} of {len(units)} runs are missing: continue with --resume",
                file=sys.stderr,
            )
            return stop.exit_code
        failed.unlink(missing_ok=True)
        print(arguments.out / REPORT)
        if page is not None and page.proofs.broken:
            print(f"rclrt: {page.proofs.sentence()}", file=sys.stderr)
            return EXIT_ABOVE_BOUND
    return EXIT_OK


def settings_of(arguments: argparse.Namespace) -> list[Settings]:
    """Returns the named experiments, changed by the options. Throws BadInput."""
    names: Sequence[str] = [arguments.name]
    if arguments.name == "all":
        names = THESIS
    elif arguments.name == "beyond":
        names = [name for name in bundled() if name not in THESIS]
    if arguments.trials is not None and arguments.trials > MOST_TRIALS:
        raise BadInput(f"--trials {arguments.trials}: expected 1 to {MOST_TRIALS}")
    if arguments.seconds is not None:
        check_run_seconds(arguments.seconds)
    stated = parse_executors(arguments.executors) if arguments.executors else None
    return [
        Settings(
            each,
            arguments.trials or (QUICK_TRIALS if arguments.quick else each.trials),
            arguments.seconds or (QUICK_SECONDS if arguments.quick else each.seconds),
            stated or each.executors,
        )
        for each in map(load_experiment, names)
    ]


def _check(arguments: argparse.Namespace, settings: Sequence[Settings]) -> None:
    """Throws BadInput for an option that is only for runs in a simulation, or vice versa."""
    if arguments.simulate:
        if arguments.overheads is not None:
            raise BadInput(
                "--overheads with --simulate: the experiment's file states the overheads of the "
                "simulated machine; leave out one of the two options"
            )
        return
    for name in ("jobs", "scheduler"):
        if getattr(arguments, name) is not None:
            raise BadInput(
                f"--{name}: runs on ROS 2 are made one after the other; add --simulate, or leave "
                "out this option"
            )
    for each in settings:
        check_cpus(each.experiment)
    find_program(os.environ, PACKAGE, PACKAGE)


def _tries(arguments: argparse.Namespace) -> int:
    stated: int | None = arguments.tries
    return stated or (1 if arguments.quick else TRIES)
