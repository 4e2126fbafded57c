# SPDX-License-Identifier: Apache-2.0
"""The settings of the experiments of one command line, and the work on their units."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.terminal.progress import Progress

from rclrt_experiments.experiment import Experiment
from rclrt_experiments.journal import Journal
from rclrt_experiments.live import Live
from rclrt_experiments.sweep import Backend, WorkersFailed
from rclrt_experiments.unit import Done, Unit, simulate_unit, units_of

SAY_EACH_S = 60.0
"""Seconds between two lines of progress if there is no terminal."""


@dataclass(frozen=True)
class Settings:
    """The settings of one experiment."""

    experiment: Experiment
    trials: int
    seconds: float
    executors: tuple[str, ...]

    def units(self, number: int) -> list[Unit]:
        return list(units_of(number, self.experiment, self.trials, self.executors))


def _simulate(settings: Sequence[Settings], unit: Unit) -> Done:
    own = settings[unit.experiment]
    return simulate_unit(own.experiment, own.executors, own.seconds, unit)


def _run(settings: Sequence[Settings], live: Live, unit: Unit) -> Done:
    own = settings[unit.experiment]
    return live.run_unit(own.experiment, own.executors, own.seconds, unit)


def sweep_units(
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
    try:
        for unit, done in backend.run(work, left, lambda: stop.requested):
            journal.add(unit, done)
            clock.count += 1
            name = settings[unit.experiment].experiment.name
            if progress.live:
                progress.show(clock.count, clock.text(name))
            elif clock.is_due():
                progress.say(clock.text(name))
    except WorkersFailed as error:
        raise WorkersFailed(
            f"{error}\n  completed units are kept, continue with --resume"
        ) from error
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
