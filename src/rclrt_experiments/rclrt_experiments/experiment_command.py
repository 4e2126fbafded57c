# SPDX-License-Identifier: Apache-2.0
"""`rclrt experiment`: runs many applications under several executors and makes the page."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rclrt_cli.options.overheads import add_file_arguments, overheads_file
from rclrt_generator.options import count_argument
from rclrt_py.arguments import check_run_seconds, seconds_argument
from rclrt_py.errors import EXIT_ABOVE_BOUND, EXIT_OK, BadInput
from rclrt_py.processes.runner import PACKAGE, find_program
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.runs.output_directory import REPORT
from rclrt_py.terminal.progress import Progress

from rclrt_experiments.experiment import (
    MOST_TRIALS,
    THESIS,
    Experiment,
    bundled,
    load_experiment,
    parse_executors,
)
from rclrt_experiments.journal import Journal, opened, overheads_of, plan_of
from rclrt_experiments.live import Live, alone, check_cpus
from rclrt_experiments.page import Page, write_page
from rclrt_experiments.runs import QUIET
from rclrt_experiments.sweep import Backend, Cores, Dask, InProcess, cores
from rclrt_experiments.unit import Done, Unit, simulate_unit, units_of
from rclrt_py import __version__

QUICK_TRIALS, QUICK_SECONDS, TRIES = 1, 2.0, 3
SAY_EACH_S = 60.0
"""Seconds between two lines of progress if there is no terminal."""
HELP = "the thesis's experiments, and your own: many applications under several executors"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        help=f"{', '.join(bundled())}; all: the first {len(THESIS)}, beyond: the others; or a file",
    )
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="where results go")
    parser.add_argument("--trials", metavar="N", type=count_argument, help="applications of each")
    parser.add_argument("--seconds", metavar="S", type=seconds_argument, help="of each run")
    parser.add_argument("--executors", metavar="A,B,...", help="default: those of the experiment")
    parser.add_argument("--simulate", action="store_true", help="simulate; no ROS, no waiting")
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"{QUICK_TRIALS} trial of {QUICK_SECONDS:g} s, unless --trials or --seconds say more",
    )
    parser.add_argument(
        "--tries",
        metavar="N",
        type=count_argument,
        help=f"a run in which the host took more than {100 * QUIET:g} %% of the time is made "
        "again, whatever it showed; at most N times in all, "
        f"default {TRIES}, and 1 with --quick",
    )
    add_file_arguments(parser)
    parser.add_argument(
        "--resume", action="store_true", help="go on with what DIR has, given the same options"
    )
    parser.add_argument(
        "--jobs", metavar="N", type=count_argument, help="of a simulation; default: one per CPU"
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="simulate on the workers of this Dask scheduler, like tcp://host:8786",
    )


@dataclass(frozen=True)
class Settings:
    """The settings of one experiment."""

    experiment: Experiment
    trials: int
    seconds: float
    executors: tuple[str, ...]

    def units(self, number: int) -> list[Unit]:
        return list(units_of(number, self.experiment, self.trials, self.executors))


def run(arguments: argparse.Namespace) -> int:
    settings = settings_of(arguments)
    file = overheads_file(arguments)
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
    backend = _backend(arguments)
    units = [unit for number, each in enumerate(settings) for unit in each.units(number)]
    with StopSignals() as stop, opened(arguments.out, plan, arguments.resume) as journal:
        page: Page | None = None
        failed = arguments.out / "failed.yaml"
        try:
            live = None if arguments.simulate else Live(stop, _tries(arguments), file, failed)
            with nullcontext() if arguments.simulate else alone(stop):
                _sweep(backend, settings, units, journal, stop, live)
        finally:
            if journal.done:
                journal.write_rows(units)
                experiments = [each.experiment for each in settings]
                page = Page.load(arguments.out, experiments, lambda: stop.requested)
                write_page(arguments.out, page)
        left = len(units) - len(journal.in_order(units))
        if left:
            print(f"rclrt: stopped; {left} of {len(units)} are missing: --resume", file=sys.stderr)
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
                "--overheads with --simulate: the experiment's file states what the simulated "
                "machine adds; expected one of the two"
            )
        return
    for name in ("jobs", "scheduler"):
        if getattr(arguments, name) is not None:
            raise BadInput(
                f"--{name}: runs in real time are never side by side; expected --simulate, too"
            )
    for each in settings:
        check_cpus(each.experiment)
    find_program(os.environ, PACKAGE, PACKAGE)


def _tries(arguments: argparse.Namespace) -> int:
    stated: int | None = arguments.tries
    return stated or (1 if arguments.quick else TRIES)


def _backend(arguments: argparse.Namespace) -> Backend:
    if arguments.scheduler is not None:
        if arguments.jobs is not None:
            raise BadInput("--scheduler and --jobs: expected one of the two")
        return Dask(arguments.scheduler)
    jobs = (arguments.jobs or cores()) if arguments.simulate else 1
    return InProcess() if jobs == 1 else Cores(jobs)


def _simulate(settings: Sequence[Settings], unit: Unit) -> Done:
    own = settings[unit.experiment]
    return simulate_unit(own.experiment, own.executors, own.seconds, unit)


def _run(settings: Sequence[Settings], live: Live, unit: Unit) -> Done:
    own = settings[unit.experiment]
    return live.run_unit(own.experiment, own.executors, own.seconds, unit)


def _sweep(
    backend: Backend,
    settings: Sequence[Settings],
    units: Sequence[Unit],
    journal: Journal,
    stop: StopSignals,
    live: Live | None,
) -> None:
    """Works on the units that are not done: on ROS 2 with `live`, else in simulation."""
    left = [unit for unit in units if unit.key() not in journal.done]
    progress = Progress(sys.stderr, len(units))
    clock = Clock(len(units) - len(left), len(units))
    work = partial(_simulate, settings) if live is None else partial(_run, settings, live)
    for unit, done in backend.run(work, left, lambda: stop.requested):
        journal.add(unit, done)
        clock.count += 1
        name = settings[unit.experiment].experiment.name
        if progress.live:
            progress.show(clock.count, clock.text(name))
        elif clock.is_due():
            progress.say(clock.text(name))
    progress.clear()


class Clock:
    """Counts the units that are done and estimates the time for the rest."""

    def __init__(self, before: int, total: int) -> None:
        self.count, self.total = before, total
        self._before = before
        self._started = self._reported = time.monotonic()

    def is_due(self) -> bool:
        """Returns whether SAY_EACH_S have passed since it last returned true."""
        now = time.monotonic()
        if now - self._reported < SAY_EACH_S:
            return False
        self._reported = now
        return True

    def text(self, label: str) -> str:
        elapsed = time.monotonic() - self._started
        left_s = elapsed / max(1, self.count - self._before) * (self.total - self.count)
        minutes, seconds = divmod(round(left_s), 60)
        return f"{self.count} of {self.total}, {minutes} min {seconds:02} s left  {label}"
