# SPDX-License-Identifier: Apache-2.0
"""Runs generated applications on real ROS 2, and compares them with their bounds."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from rclrt_py.errors import EXIT_ABOVE_BOUND, EXIT_NO, EXIT_OK, RunFailed
from rclrt_py.files.json_reader import JsonValue

from rclrt_experiments.generator.app_yaml import app_yaml
from rclrt_experiments.generator.application import GeneratedApplication
from rclrt_experiments.generator.feasibility import feasible_priorities
from rclrt_experiments.generator.rules import Rules
from rclrt_experiments.generator.timing import Infeasible
from rclrt_experiments.generator.workloads import draw_with_workloads
from rclrt_experiments.verification.verify import varied


@dataclass
class Seen:
    """The results of the runs of several applications."""

    applications: int = 0
    released: int = 0
    above: int = 0
    by_host: int = 0
    measured_by_assigned: list[float] = field(default_factory=list)
    """For each callback with work, the mean CPU time of its runs divided by the assigned time."""

    def add(self, application: GeneratedApplication, results: JsonValue) -> None:
        self.applications += 1
        for chain in results.get("chains").items():
            self.released += chain.get("released").count()
            if chain.has("exceeded"):
                self.above += chain.get("exceeded").count()
                self.by_host += chain.get("exceeded_host").count()
        assigned = {application.id_of(n): time for n, time in application.execution_ns.items()}
        for callback in results.get("callbacks").items():
            work_ns = assigned[callback.get("id").text()]
            if work_ns > 0 and callback.get("completed").count() > 0:
                mean_ms = callback.get("execution_ms").get("mean").number()
                self.measured_by_assigned.append(mean_ms * 1e6 / work_ns)

    def print_times(self) -> None:
        if self.measured_by_assigned:
            print(
                f"CPU time of {len(self.measured_by_assigned)} callbacks / their assigned time: "
                f"median {median(self.measured_by_assigned):.4f}"
            )


def run_live(
    rules: Rules,
    vary: bool,
    cpus: int,
    seeds: Iterable[int],
    count: int,
    executor: str,
    seconds: float,
    overheads: Path | None,
    workloads: Mapping[str, int],
) -> int:
    """Runs, on ROS 2, the first `count` feasible applications that need no other CPUs than this
    process may use, and prints the responses above a bound.

    Callbacks run `workloads` (the time of an iteration in nanoseconds, by name) or, if there are
    none, use CPU time in a busy loop. Also prints their CPU time relative to the execution time
    that the rules assign. Returns the exit code: EXIT_ABOVE_BOUND if a response is above its bound
    and no stall of the host explains it, EXIT_NO if no application ran. Throws RunFailed.
    """
    seen = Seen()
    code = EXIT_OK
    allowed = os.sched_getaffinity(0)
    without_cpus = 0
    for seed in seeds:
        own = replace(rules, random_seed=seed)
        try:
            application = draw_with_workloads(varied(own, cpus) if vary else own, workloads)
            priorities = feasible_priorities(application)
        except Infeasible:
            continue
        used = {place.executor for place in application.places.values()}
        if not allowed.issuperset(cpu for each in used for cpu in application.cpus_of(each)):
            without_cpus += 1
            continue
        with tempfile.TemporaryDirectory(prefix="rclrt_verify_") as name:
            directory = Path(name)
            (directory / "app.yaml").write_text(app_yaml(application, priorities), "utf-8")
            done = _run(directory, executor, seconds, overheads)
            if done.returncode not in (EXIT_OK, EXIT_ABOVE_BOUND):
                raise RunFailed(f"the application of seed {seed} cannot be run:\n{done.stderr}")
            if done.returncode == EXIT_ABOVE_BOUND:
                print(f"seed {seed}: {done.stderr.strip()}")
                code = EXIT_ABOVE_BOUND
            seen.add(application, JsonValue.load(directory / "out" / "results.json"))
        if seen.applications == count:
            break
    print(
        f"{seen.applications} applications ran under {executor} for {seconds:g} s each: "
        f"{seen.released} instances of chains, {seen.above} above a bound, {seen.by_host} of them "
        "by the host"
    )
    if without_cpus:
        print(f"{without_cpus} more were left out: they need CPUs that this process may not use")
    seen.print_times()
    if seen.applications == 0:
        print("rclrt: --run: no application ran; try a larger --count", file=sys.stderr)
        return EXIT_NO
    return code


def _run(
    directory: Path, executor: str, seconds: float, overheads: Path | None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rclrt_cli", "run", str(directory / "app.yaml")]
    command += ["--executor", executor, "--seconds", str(seconds), "--bounds"]
    command += ["--out", str(directory / "out")]
    if overheads is not None:
        command += ["--overheads", str(overheads)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
