# SPDX-License-Identifier: Apache-2.0
"""A unit on real ROS 2: one run of rclrt_runner, repeated if the host disturbed it."""

from __future__ import annotations

import errno
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclrt_py.bounds.machine import OverheadsFile
from rclrt_py.bounds.predicted import Prediction, predict
from rclrt_py.errors import BadInput, RunFailed
from rclrt_py.files.atomic import write_atomically
from rclrt_py.processes.runner import KEEP_ALL, PACKAGE, find_program, run_child, runner_command
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.runs.run_data import RESULTS, Run
from rclrt_py.stats import Summary

from rclrt_experiments.experiment import Experiment, base_of
from rclrt_experiments.generator.app_yaml import app_yaml
from rclrt_experiments.generator.timing import Infeasible
from rclrt_experiments.rows import OutputRow
from rclrt_experiments.runs import QUIET
from rclrt_experiments.sweep import Stopped
from rclrt_experiments.unit import (
    Bound,
    Done,
    Drawn,
    Instance,
    OutputBounds,
    Spread,
    Unit,
    draw,
    output_row,
    overhead_rows,
    row_of,
)

WAIT_S = 0.5
"""Seconds between two checks whether another experiment still runs."""


@contextmanager
def alone(stop: StopSignals) -> Iterator[None]:
    """Waits until no other experiment runs on this machine, or until the user stops the command.
    While the block runs, other experiments on this machine wait. The lock is the name of an
    abstract socket (unix(7)), which the kernel frees when the process ends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as name:
        is_reported = False
        while not stop.requested:
            try:
                name.bind("\0rclrt experiment on ROS 2")
                break
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            if not is_reported:
                print("rclrt: waiting for another experiment on this machine", file=sys.stderr)
            is_reported = True
            time.sleep(WAIT_S)
        yield


@dataclass(frozen=True)
class Live:
    """The settings of runs on ROS 2."""

    stop: StopSignals
    tries: int
    overheads: OverheadsFile | None
    failed: Path
    """File for the application of a run that fails."""
    tick: Callable[[float], None] | None = None

    def run_unit(
        self, experiment: Experiment, executors: Sequence[str], seconds: float, unit: Unit
    ) -> Done:
        """Runs one application under one executor. Throws Stopped if the user stops it."""
        name = executors[unit.executor]
        try:
            drawn = draw(experiment, unit.point, unit.trial, name)
        except Infeasible as why:
            return Done(infeasible=str(why))
        check_cpus(experiment)
        predicted = predict(drawn.model, [base_of(name)], self.overheads).executors.get(
            base_of(name)
        )
        with tempfile.TemporaryDirectory(prefix="rclrt_experiment_") as directory:
            app = Path(directory) / "app.yaml"
            text = app_yaml(drawn.generated, drawn.priorities, drawn.deadlines_ns)
            app.write_text(text, encoding="utf-8")
            try:
                runs = self._runs(app, base_of(name), seconds)
            except (RunFailed, BadInput) as error:
                write_atomically(self.failed, text)
                raise type(error)(
                    f"{experiment.name}, '{experiment.points[unit.point].label}', trial "
                    f"{unit.trial}, {name}: {error}\n  the application is in {self.failed}; "
                    "completed runs are kept, continue with --resume"
                ) from error
            run = min(runs, key=_stolen)
            from_start = _from_start(run)
            rows = []
            for chain, result in enumerate(run.results.chains):
                times = result.response
                bound = predicted.chains[result.id] if predicted else Bound()
                best, mean, worst = (
                    (times.best * 1e6, times.mean * 1e6, times.worst * 1e6)
                    if times
                    else (0.0, 0.0, 0.0)
                )
                rows.append(
                    row_of(experiment, name, unit, drawn, chain, bound, result.completed,
                           result.missed, best, mean, worst, from_start.get(result.id))
                )  # fmt: skip
            overheads = overhead_rows(experiment, name, unit, _instances(run))
            outputs = _outputs(experiment, name, unit, drawn, run, predicted)
            return Done(
                tuple(rows), tuple(overheads), run=_described(run, runs), outputs=tuple(outputs)
            )

    def _runs(self, app: Path, executor: str, seconds: float) -> list[Run]:
        """Repeats the run until the host does not disturb it, at most `tries` times."""
        runs: list[Run] = []
        while len(runs) < self.tries:
            runs.append(self._once(app, executor, seconds, len(runs) + 1))
            if _stolen(runs[-1]) <= QUIET:
                break
        return runs

    def _once(self, app: Path, executor: str, seconds: float, number: int) -> Run:
        made, logs = app.parent / f"run{number}", app.parent / f"log{number}"
        logs.mkdir()
        program = find_program(os.environ, PACKAGE, PACKAGE)
        command = runner_command(program, app, executor, seconds, made, False, [], keep=KEEP_ALL)
        ended = run_child(command, logs, seconds, self.stop, self.tick)
        if ended.interrupted:
            raise Stopped
        if not (made / RESULTS).is_file():
            raise RunFailed(f"{PACKAGE} ended with exit code 0 but wrote no {RESULTS}")
        return Run.load(made)


def _outputs(
    experiment: Experiment,
    executor: str,
    unit: Unit,
    drawn: Drawn,
    run: Run,
    predicted: Prediction | None,
) -> Iterator[OutputRow]:
    """Yields the rows of the paths with limits."""
    for number, result in enumerate(run.results.cause_effect_chains):
        bound = predicted.cause_effect_chains[result.id] if predicted else OutputBounds()
        yield output_row(experiment, executor, unit, drawn, number, bound, result.outputs,
                         _spread(result.reaction), _spread(result.age))  # fmt: skip


def _spread(times: Summary | None) -> Spread:
    return Spread() if times is None else Spread(times.best, times.p50, times.worst)


def check_cpus(experiment: Experiment) -> None:
    """Throws BadInput if an application names CPUs that this process may not use."""
    allowed = os.sched_getaffinity(0)
    for point in experiment.points:
        missing = {*point.rules.cpus, *point.rules.scheduler_cpus} - allowed
        if missing:
            raise BadInput(
                f"{experiment.name}, point '{point.label}': CPU {min(missing)} is not available; "
                "add --simulate, which needs no such CPU, or change cpus and scheduler_cpus in a "
                "copy of the file"
            )


def _stolen(run: Run) -> float:
    steal_ms: float = run.results.context["steal_ms"]
    return steal_ms / 1e3 / run.results.duration_s


def _instances(run: Run) -> list[Instance]:
    number = {callback.id: n for n, callback in enumerate(run.results.callbacks)}
    return [
        (number[row.callback], row.ready, row.start, row.end)
        for row in run.instance_rows()
        if row.outcome == "ran"
    ]


def _from_start(run: Run) -> dict[str, tuple[float, float]]:
    """Returns, for each chain that ended, best and worst time from its first callback's start."""
    firsts = {chain.id: chain.callbacks[0] for chain in run.results.chains}
    lasts = {chain.id: chain.callbacks[-1] for chain in run.results.chains}
    starts: dict[str, int] = {}
    ends: dict[str, int] = {}
    for row in run.instance_rows():
        for token in row.tokens.split(";") if row.outcome == "ran" and row.tokens else ():
            chain = token.rpartition(":")[0]
            if firsts.get(chain) == row.callback:
                starts[token] = row.start
            if lasts.get(chain) == row.callback:
                ends[token] = min(row.end, ends.get(token, row.end))
    times: dict[str, list[int]] = {}
    for token, end in ends.items():
        if token in starts:
            times.setdefault(token.rpartition(":")[0], []).append(end - starts[token])
    return {chain: (min(own), max(own)) for chain, own in times.items()}


def _described(run: Run, runs: Sequence[Run]) -> dict[str, Any]:
    """Describes a run: when, where, and the time that the host took in it and in all its tries."""
    context = run.results.context
    return {
        "started_utc": run.results.started_utc,
        "tries": len(runs),
        "steal_ms": context["steal_ms"],
        "steal_of_tries_ms": " ".join(f"{each.results.context['steal_ms']:g}" for each in runs),
        "stalls": context["host_stalls"]["count"],
        "stall_ms": context["host_stalls"]["total_ms"],
        "worst_stall_ms": context["host_stalls"]["worst_ms"],
        "missed_host": sum(chain.missed_host for chain in run.results.chains),
        "missed_host_of": " ".join(str(chain.missed_host) for chain in run.results.chains),
        "realtime": context["realtime"],
        "kernel": context["kernel"],
        "cpu_model": context["cpu_model"],
        "cpus": context["cpus"],
        "rmw": context["rmw"],
    }
