# SPDX-License-Identifier: Apache-2.0
"""`rclrt study timers`: which threads inherit a real-time policy, and its effect on timers."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.arguments import seconds_argument
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput, RunFailed, did_you_mean
from rclrt_py.files.atomic import check_file, write_atomically
from rclrt_py.processes.runner import Patience, find_program, run_child
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.processes.stress import STRESS_NG, Stress
from rclrt_py.runs.output_directory import REPORT
from rclrt_py.terminal.progress import Progress
from rclrt_py.terminal.table import fitted_lines

from rclrt_demos.timer_study.matrix import Case, all_cases
from rclrt_demos.timer_study.measured import HIST, SUMMARY, TOPN, Measured
from rclrt_demos.timer_study.report import (
    LATENCIES,
    PICTURES,
    THREADS,
    Study,
    figures,
    latency_rows,
    page,
    thread_rows,
)
from rclrt_py import __version__

PACKAGE = "rclrt_demos"
BUILT_IN, NONE = "built-in", "none"
HELP = "a published study, repeated here: timers beside the threads that ROS starts"
RESULTS = "study.json"
MARKER = ".rclrt_study"
RUNS = "runs"
MOST_ITERATIONS = 100_000_000
PATIENCE = Patience(after_its_time=600.0)
"""A run hangs if it takes this much longer than its iterations."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY", choices=["timers"], help="timers")
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--seconds", metavar="S", type=seconds_argument, default=5.0, help="of each run; default 5"
    )
    length.add_argument("--iterations", metavar="N", type=_iterations, help="of each run")
    parser.add_argument(
        "--period-us", metavar="US", type=_period, default=1000, help="of the timer; default 1000"
    )
    parser.add_argument(
        "--priority", metavar="N", type=_priority, default=80, help="1 to 99; default 80"
    )
    parser.add_argument("--policy", choices=["rr", "fifo"], default="rr", help="default rr")
    parser.add_argument(
        "--stress",
        choices=(BUILT_IN, STRESS_NG, NONE),
        default=BUILT_IN,
        help=f"default {BUILT_IN}",
    )
    parser.add_argument(
        "--rmw", metavar="NAME", action="append", help="only this middleware; default: all found"
    )
    parser.add_argument("--out", metavar="DIR", type=Path, help="for the page, pictures and CSVs")
    parser.add_argument("--json", metavar="FILE", type=Path, help="the figures of all runs")


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
        runs = Runs(arguments, programs, Path(name), stop)
        with stress or contextlib.nullcontext():
            study = runs.measure(middlewares, stress.label if stress else "none")
        if stop.requested:
            print("rclrt: stopped; nothing was written", file=sys.stderr)
            return stop.exit_code
        _write(arguments, study, Path(name))
    print_study(study)
    return EXIT_OK if study.as_stated else EXIT_NO


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


def installed_middlewares(environment: Mapping[str, str]) -> list[str]:
    """The middlewares in the ament index, except rmw_implementation, which only chooses one."""
    found: set[str] = set()
    for prefix in environment.get("AMENT_PREFIX_PATH", "").split(":"):
        index = Path(prefix) / "share" / "ament_index" / "resource_index" / "rmw_typesupport"
        if prefix and index.is_dir():
            found.update(each.name for each in index.iterdir())
    return sorted(found - {"rmw_implementation"})


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


@dataclass
class Runs:
    """Runs the programs one after the other."""

    arguments: argparse.Namespace
    programs: dict[str, Path]
    directory: Path
    stop: StopSignals

    @property
    def iterations(self) -> int:
        stated: int | None = self.arguments.iterations
        if stated is not None:
            return stated
        seconds: float = self.arguments.seconds
        period_us: int = self.arguments.period_us
        return max(1, round(seconds * 1e6 / period_us))

    def measure(self, middlewares: Sequence[str], stress: str) -> Study:
        seconds = self.iterations * self.arguments.period_us * 1e-6
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
            f"{self.iterations} iterations each, one per {self.arguments.period_us} µs, "
            f"SCHED_{self.arguments.policy.upper()} {self.arguments.priority}; stress: {stress}."
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
            "--rttest_args", "-i", str(self.iterations), "-u", f"{self.arguments.period_us}us",
            "-t", str(self.arguments.priority), "-s", self.arguments.policy,
        ]  # fmt: skip
        tick = progress.tick if progress.live else None
        run_child(command, own, seconds, self.stop, tick, PATIENCE)
        return Measured.read(case, rmw, own)


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


def study_json(study: Study) -> str:
    value = {
        "rclrt": __version__,
        "conditions": study.conditions,
        "realtime": study.realtime,
        "inheritance_as_stated": study.as_stated,
        "failures": list(study.failures),
        "runs": [each.to_json() for each in study.measured],
    }
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def check_out(directory: Path) -> None:
    """Throws before the runs, which take minutes, if their results could not be written."""
    if directory.exists() and not directory.is_dir():
        raise BadInput(f"--out {directory}: is no directory; expected one")
    if directory.is_dir() and any(directory.iterdir()) and not (directory / MARKER).is_file():
        raise BadInput(
            f"--out {directory}: is not empty and was not written by this command; name a new "
            "directory, or empty this one"
        )
    parent = directory if directory.is_dir() else directory.parent
    if not os.access(parent, os.W_OK | os.X_OK):
        raise BadInput(
            f"--out {directory}: {parent} is no directory that you may write; choose another"
        )


def _write(arguments: argparse.Namespace, study: Study, made: Path) -> None:
    if arguments.out:
        out: Path = arguments.out
        out.mkdir(exist_ok=True)
        (out / MARKER).touch()
        shutil.rmtree(out / RUNS, ignore_errors=True)
        pictures = figures(study)
        for kind in PICTURES:
            for old in out.glob(f"{kind}_rmw_*.svg"):
                old.unlink()
        shutil.copytree(made / RUNS, out / RUNS)
        for name, svg in pictures.items():
            write_atomically(out / f"{name}.svg", svg)
        write_atomically(out / REPORT, page(study, pictures))
        write_atomically(out / RESULTS, study_json(study))
    if arguments.json:
        write_atomically(arguments.json, study_json(study))


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
