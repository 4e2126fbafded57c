# SPDX-License-Identifier: Apache-2.0
"""One measured or simulated run of `run`, `compare` and `simulate`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rclrt_py.agents.connections import Agent, connected, hosts_environment
from rclrt_py.bounds.expected import Expected
from rclrt_py.comparisons.verdict import check_chain
from rclrt_py.errors import BadInput, RunFailed
from rclrt_py.files.atomic import write_atomically
from rclrt_py.processes.runner import (
    PACKAGE,
    SIMULATOR,
    Ended,
    check_simulation,
    find_program,
    run_child,
    runner_command,
    simulator_command,
)
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.runs.application import ApplicationInfo, describe_app_file
from rclrt_py.runs.output_directory import APPLICATION, BOUNDS, STAGING
from rclrt_py.runs.run_data import INSTANCES, RESULTS, Run
from rclrt_py.terminal.progress import Progress


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
    keep: int | None = None
    """The most instances of callbacks of which the runner keeps all. None: its default."""
    agents: Sequence[Agent] = ()
    """Those of the other hosts of the application."""
    token: str | None = None
    """The secret of agents with an address."""
    failure: RunFailed | None = field(init=False, default=None)
    """Why the last run ended early, if its program failed and had written results before."""
    _notes: set[str] = field(default_factory=set)

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
            chains = (chain.id for chain in self.application.chains)
            check_chain(name, chains, self.application.cause_effect_chains)

    def check_simulation(self, executor: str, seconds: float) -> None:
        """Rejects wrong options of the simulator before anything is written."""
        if self.simulation_options is not None:
            check_simulation(self.runner, self.app, executor, seconds, self.simulation_options)

    def write_application(self, directory: Path) -> None:
        if self.application:
            write_atomically(directory / APPLICATION, self.application.to_json())
        if self.expected:
            write_atomically(directory / BOUNDS, self.expected.predictions.to_json())

    def run(self, executor: str, seconds: float, directory: Path) -> tuple[Path | None, bool]:
        """Makes one run under `executor` in a temporary folder inside `directory`.

        Returns the folder of the finished run, and whether the run lasted as long as requested. The
        folder is None if the user stopped the program before it wrote results. Throws RunFailed if
        the program fails and has not written results before; `failure` is the error if it has.
        """
        self.failure = None
        staging = directory / STAGING
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir()
        made = staging / "run"
        try:
            ended = self._run_program(executor, seconds, made)
        except RunFailed as error:
            if not (made / RESULTS).is_file():
                raise
            self.failure = error
        else:
            self._say_once(ended.notes)
            if not (made / RESULTS).is_file():
                if ended.interrupted:
                    return None, False
                raise RunFailed(f"{self.runner.name} ended with exit code 0 but wrote no {RESULTS}")
        self._check(made, executor)
        duration_s = Run.load(made).results.duration_s
        whole = self.failure is None and not ended.interrupted
        return made, whole or (self.failure is None and duration_s >= 0.99 * seconds)

    def _run_program(self, executor: str, seconds: float, made: Path) -> Ended:
        tick = self.progress.tick if self.progress.live else None
        if self.simulation_options is not None:
            command = simulator_command(
                self.runner, self.app, executor, seconds, made, self.simulation_options
            )
            return run_child(command, made.parent, seconds, self.stop, tick)
        with connected(self.agents, self.token) as sockets:
            files = {host: each.fileno() for host, each in sockets.items()}
            command = runner_command(
                self.runner,
                self.app,
                executor,
                seconds,
                made,
                self.strict,
                self.ros_arguments,
                self.priorities,
                self.keep,
                files,
            )
            environment = hosts_environment(os.environ) if files else None
            return run_child(
                command,
                made.parent,
                seconds,
                self.stop,
                tick,
                environment=environment,
                files=tuple(files.values()),
            )

    def _check(self, made: Path, executor: str) -> None:
        """Checks the files of a run, and compares it with its bounds."""
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

    def _say_once(self, notes: Iterable[str]) -> None:
        """Prints the lines that the program wrote, each only once."""
        for note in notes:
            if note not in self._notes:
                self._notes.add(note)
                self.progress.clear()
                print(note, file=sys.stderr)


def outcome(run: Run) -> str:
    """Describes the first chain of a run's report in one line."""
    chain = run.results.in_report_order(run.results.replayed)[0]
    p99 = f", p99 {chain.response.p99:.3f} ms" if chain.response else ""
    return f"{chain.id} missed {chain.missed} of {chain.due}{p99}"
