# SPDX-License-Identifier: Apache-2.0
"""The runs of a study: each program under each middleware, one after the other."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.errors import BadInput, RunFailed
from rclrt_py.processes.runner import Patience, run_child
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.terminal.progress import Progress

from rclrt_demos.timer_study.matrix import Case, all_cases
from rclrt_demos.timer_study.measured import HIST, SUMMARY, TOPN, Measured
from rclrt_demos.timer_study.report import Study
from rclrt_py import __version__

RUNS = "runs"
PATIENCE = Patience(after_its_time=600.0)
"""A run hangs if it takes this much longer than its iterations."""


def installed_middlewares(environment: Mapping[str, str]) -> list[str]:
    """The middlewares in the ament index, except rmw_implementation, which only chooses one."""
    found: set[str] = set()
    for prefix in environment.get("AMENT_PREFIX_PATH", "").split(":"):
        index = Path(prefix) / "share" / "ament_index" / "resource_index" / "rmw_typesupport"
        if prefix and index.is_dir():
            found.update(each.name for each in index.iterdir())
    return sorted(found - {"rmw_implementation"})


@dataclass(frozen=True)
class Timers:
    """The timer of every run, and how often it is released."""

    iterations: int
    period_us: int
    policy: str
    priority: int


@dataclass
class Runs:
    """Runs the programs one after the other."""

    timers: Timers
    programs: dict[str, Path]
    directory: Path
    stop: StopSignals

    def measure(self, middlewares: Sequence[str], stress: str) -> Study:
        seconds = self.timers.iterations * self.timers.period_us * 1e-6
        cases = list(all_cases())
        progress = Progress(sys.stderr, len(middlewares) * len(cases) * seconds)
        measured: list[Measured] = []
        failures: list[str] = []
        for rmw in middlewares:
            try:
                for case in cases:
                    if self.stop.requested:
                        break
                    progress.step(f"{rmw}  {case.program}, {case.children}", seconds)
                    measured.append(self._run(case, rmw, seconds, progress))
                    progress.finished(f"max {measured[-1].latency.max:.0f} µs")
            except (RunFailed, BadInput) as error:
                if self.stop.requested:
                    break
                measured = [each for each in measured if each.rmw != rmw]
                failures.append(f"{rmw} could not be measured: {error}")
        progress.clear()
        if failures and not measured:
            raise RunFailed("\n".join(failures))
        uname = platform.uname()
        conditions = (
            f"rclrt {__version__}, Linux {uname.release}, {len(os.sched_getaffinity(0))} CPUs, "
            f"{self.timers.iterations} iterations each, one per {self.timers.period_us} µs, "
            f"SCHED_{self.timers.policy.upper()} {self.timers.priority}; stress: {stress}."
        )
        return Study(measured, failures, conditions)

    def _run(self, case: Case, rmw: str, seconds: float, progress: Progress) -> Measured:
        own = self.directory / RUNS / rmw / case.name
        own.mkdir(parents=True)
        command = [
            "env", f"RMW_IMPLEMENTATION={rmw}", str(self.programs[case.program]),
            "--set_policy_before", case.policy_set_before, "--nodes", "2",
            "--summary_filename", str(own / SUMMARY), "--hist_filename", str(own / HIST),
            "--topn_filename", str(own / TOPN),
            "--rttest_args", "-i", str(self.timers.iterations), "-u", f"{self.timers.period_us}us",
            "-t", str(self.timers.priority), "-s", self.timers.policy,
        ]  # fmt: skip
        tick = progress.tick if progress.live else None
        run_child(command, own, seconds, self.stop, tick, PATIENCE)
        return Measured.read(case, rmw, own)
