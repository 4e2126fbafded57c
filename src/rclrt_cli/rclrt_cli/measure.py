# SPDX-License-Identifier: Apache-2.0
"""The common part of `run`, `compare` and `simulate`: one measured run, and the exit code."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput, RunFailed, did_you_mean
from rclrt_py.files.atomic import write_atomically
from rclrt_py.native import load_application
from rclrt_py.processes.runner import (
    PACKAGE,
    SIMULATOR,
    find_program,
    run_child,
    runner_command,
    simulator_command,
)
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.runs.application import ApplicationInfo, describe_app_file
from rclrt_py.runs.output_directory import APPLICATION, BOUNDS, STAGING
from rclrt_py.runs.run_data import EXCESSES, INSTANCES, RESULTS, Run
from rclrt_py.terminal.progress import Progress

from rclrt_cli.bounds.comparing import judgement
from rclrt_cli.bounds.excesses import excesses_csv
from rclrt_cli.bounds.judging import Judge
from rclrt_cli.bounds.machine import OverheadsFile
from rclrt_cli.bounds.predicted import Predictions, predict
from rclrt_cli.comparison import Comparison
from rclrt_cli.options.overheads import overheads_file
from rclrt_cli.options.run import ANY_CHAIN

if TYPE_CHECKING:
    from rclrt_model import Application


@dataclass(frozen=True)
class Expected:
    """The bounds to compare runs with, and the judge of the instances above them, by executor."""

    predictions: Predictions
    judges: dict[str, Judge]

    @classmethod
    def of(
        cls, application: Application, executors: Sequence[str], overheads: OverheadsFile | None
    ) -> Expected:
        predictions = predict(application, executors, overheads)
        judges = {name: Judge.of(application, name, overheads) for name in predictions.executors}
        return cls(predictions, judges)

    def judge(self, run: Run) -> None:
        """Writes the instances above their bound and the reasons into the directory of the run."""
        executor = run.results.executor
        predicted = self.predictions.executors.get(executor)
        if predicted is not None:
            found = self.judges[executor].judge(run, predicted.chains.values())
            write_atomically(run.directory / EXCESSES, excesses_csv(found))


def expected(arguments: argparse.Namespace, executors: Sequence[str]) -> Expected | None:
    """Returns the bounds that --bounds or --overheads requests."""
    overheads = overheads_file(arguments)
    if not arguments.bounds and overheads is None:
        return None
    application = load_application(arguments.app, arguments.priorities)
    return Expected.of(application, executors, overheads)


@dataclass
class Measurement:
    """The checked request of one command line."""

    app: Path
    strict: bool
    ros_arguments: list[str]
    stop: StopSignals
    progress: Progress
    priorities: Path | None = None
    """A file of callback priorities that replace those of the application."""
    simulation_options: Sequence[str] | None = None
    """Options of the simulator, which then replaces the runner."""
    expected: Expected | None = None
    """Bounds to compare each run with."""
    runner: Path = field(init=False)
    application: ApplicationInfo | None = field(init=False)
    _notes: set[str] = field(default_factory=set)

    @classmethod
    def asked_for(
        cls,
        arguments: argparse.Namespace,
        executors: Sequence[str],
        stop: StopSignals,
        progress: Progress,
    ) -> Measurement:
        """Reads the options of `run` and of `bounds`."""
        return cls(
            arguments.app,
            arguments.strict,
            arguments.trailing,
            stop,
            progress,
            arguments.priorities,
            expected=expected(arguments, executors),
        )

    def __post_init__(self) -> None:
        if not self.app.is_file():
            what = "is not a file" if self.app.exists() else "no such file"
            raise BadInput(f"{self.app}: {what}; expected an app.yaml")
        simulated = self.simulation_options is not None
        program = SIMULATOR if simulated else PACKAGE
        self.runner = find_program(os.environ, program, program)
        self.application = describe_app_file(self.app, self.priorities)

    def check_chain(self, name: str | None) -> None:
        """Rejects an unknown chain before anything is measured."""
        if name and self.application:
            check_chain(name, [chain.id for chain in self.application.chains])

    def write_application(self, directory: Path) -> None:
        if self.application:
            write_atomically(directory / APPLICATION, self.application.to_json())
        if self.expected:
            write_atomically(directory / BOUNDS, self.expected.predictions.to_json())

    def run(self, executor: str, seconds: float, directory: Path) -> tuple[Path | None, bool]:
        """Measures once, in a staging folder inside `directory`.

        Returns the folder of the finished run, and whether the run lasted as long as requested. The
        folder is None if the user stopped the program and it wrote nothing.
        """
        staging = directory / STAGING
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir()
        made = staging / "run"
        if self.simulation_options is not None:
            command = simulator_command(
                self.runner, self.app, executor, seconds, made, self.simulation_options
            )
        else:
            command = runner_command(
                self.runner,
                self.app,
                executor,
                seconds,
                made,
                self.strict,
                self.ros_arguments,
                self.priorities,
            )
        tick = self.progress.tick if self.progress.live else None
        ended = run_child(command, staging, seconds, self.stop, tick)
        self._say_once(ended.notes)
        if not (made / RESULTS).is_file():
            if ended.interrupted:
                return None, False
            raise RunFailed(f"{self.runner.name} ended with exit code 0 but wrote no {RESULTS}")
        run = Run.load(made)
        if run.results.executor != executor:
            raise RunFailed(
                f"{self.runner.name} ran executor '{run.results.executor}', not '{executor}'"
            )
        run.chain_samples()
        if not (made / INSTANCES).is_file():
            raise RunFailed(f"{self.runner.name} wrote no {INSTANCES}")
        if self.expected:
            self.expected.judge(run)
        complete = not ended.interrupted or run.results.duration_s >= 0.99 * seconds
        return made, complete

    def _say_once(self, notes: Iterable[str]) -> None:
        """Prints the lines that the program wrote, each only once."""
        for note in notes:
            if note not in self._notes:
                self._notes.add(note)
                self.progress.clear()
                print(note, file=sys.stderr)


def outcome(run: Run) -> str:
    """Describes the most urgent chain of a run in one line."""
    chain = min(run.results.chains, key=lambda item: (-item.priority, item.deadline_ms))
    p99 = f", p99 {chain.response.p99:.3f} ms" if chain.response else ""
    return f"{chain.id} missed {chain.missed} of {chain.due}{p99}"


def check_chain(name: str, known: list[str]) -> None:
    if name not in known:
        raise BadInput(
            f"--fail-on-miss: unknown chain '{name}'{did_you_mean(name, known)}\n"
            f"  the application has: {', '.join(known)}"
        )


def verdict(comparison: Comparison, fail_on_miss: str | None) -> int:
    """Returns the exit code: first for observations above their bound, then for --fail-on-miss."""
    above, said = judgement(comparison.executors)
    for line in said:
        print(f"rclrt: {line}", file=sys.stderr)
    return above or _missed(comparison, fail_on_miss)


def _missed(comparison: Comparison, fail_on_miss: str | None) -> int:
    if fail_on_miss is None:
        return EXIT_OK
    judged = [
        results
        for results in comparison.executors
        if comparison.is_single_run or results is not comparison.baseline
    ]
    code = EXIT_OK
    for results in judged:
        if fail_on_miss != ANY_CHAIN:
            check_chain(fail_on_miss, [chain.id for chain in results.chains])
        for chain in results.chains:
            if chain.missed_own and fail_on_miss in (ANY_CHAIN, chain.id):
                print(
                    f"rclrt: {results.executor}: chain {chain.id} missed {chain.missed_own} "
                    f"deadlines of {chain.due}",
                    file=sys.stderr,
                )
                code = EXIT_NO
    return code
