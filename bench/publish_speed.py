# SPDX-License-Identifier: Apache-2.0
"""Measures the run time and memory of the analysis, and puts them into docs/results.

tools/env python3 bench/publish_speed.py            measures, prints, and writes
tools/env python3 bench/publish_speed.py --print    writes nothing
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rclrt_py.processes.runner import find_program
from results_page import HERE, write_results

REPETITIONS = 5
SENSITIVITY = ("analyze", "--sensitivity", "--no-search", "--dispatch-us", "0")
PROGRAM = "analysis"


def chains_of_four(chains: int) -> dict[str, Any]:
    """Returns chains of a timer and three subscriptions, 50 us each, with periods of about 1 s."""
    callbacks = [
        {
            "id": f"c{chain}_{step}",
            "node": "node",
            "wcet_ms": 0.05,
            **_trigger(chain, step, 1000 + chain),
        }
        for chain in range(chains)
        for step in range(4)
    ]
    return {
        "rclrt": 1,
        "name": "large",
        "executors": [{"name": "main", "cpus": [0]}],
        "nodes": [{"name": "node"}],
        "callbacks": callbacks,
        "chains": _chains_of_four(chains, deadline_ms=500),
    }


def timers(count: int, load: float) -> dict[str, Any]:
    """Returns single timers with periods from 10 ms to 1 s, which need the same share each."""
    periods = (10, 12, 15, 20, 25, 33, 40, 50, 75, 100, 200, 250, 500, 1000)
    callbacks = [
        {
            "id": f"c{number}",
            "node": "node",
            "timer": {"period_ms": periods[number % len(periods)]},
            "wcet_ms": round(load / count * periods[number % len(periods)], 6),
        }
        for number in range(count)
    ]
    return {
        "rclrt": 1,
        "name": "timers",
        "executors": [{"name": "main", "cpus": [0]}],
        "nodes": [{"name": "node"}],
        "callbacks": callbacks,
        "chains": [
            {"id": f"chain{number}", "callbacks": [f"c{number}"], "priority": number % 90}
            for number in range(count)
        ],
    }


def robot_on_cpus(chains: int, cpus: int, load: float) -> dict[str, Any]:
    """Returns chains of four callbacks in nodes of two chains each. Their periods are from 10 ms to
    1 s, and they need `load` of the CPUs. Half of the callbacks are in a group of their node."""
    periods = (10, 20, 25, 50, 100, 200, 500, 1000)
    callbacks = []
    for chain in range(chains):
        period = periods[chain % len(periods)]
        for step in range(4):
            share = (1, 2, 4, 3)[step] / 10
            wcet = load * cpus / chains * period * share
            callbacks.append(
                {
                    "id": f"c{chain}_{step}",
                    "node": f"node{chain // 2}",
                    "wcet_ms": round(wcet, 6),
                    **_trigger(chain, step, period),
                    **({"group": f"group{step}"} if step % 2 else {}),
                }
            )
    return {
        "rclrt": 1,
        "name": "robot",
        "executors": [{"name": "main", "cpus": list(range(cpus))}],
        "nodes": [{"name": f"node{node}"} for node in range((chains + 1) // 2)],
        "callbacks": callbacks,
        "chains": _chains_of_four(chains),
    }


def _trigger(chain: int, step: int, period_ms: float) -> dict[str, Any]:
    first = {"timer": {"period_ms": period_ms}}
    later = {"subscription": {"topic": f"t{chain}_{step - 1}"}}
    sent = {"publishes": [f"t{chain}_{step}"]} if step < 3 else {}
    return {**(later if step else first), **sent}


def _chains_of_four(chains: int, **deadline: float) -> list[dict[str, Any]]:
    return [
        {
            "id": f"chain{chain}",
            "callbacks": [f"c{chain}_{step}" for step in range(4)],
            "priority": chain % 90,
            **deadline,
        }
        for chain in range(chains)
    ]


@dataclass(frozen=True)
class Target:
    """A benchmark by its name in that program; None: a command line with an application."""

    what: str
    benchmark: str | None
    most_ms: float
    most_mb: float | None = None
    verb: tuple[str, ...] = ()
    application: Callable[[], dict[str, Any]] = dict


TARGETS = (
    Target(
        "simulation, 10 tasks, 1 000 000 jobs",
        "simulation_of_a_million_jobs_of_ten_tasks",
        200,
        100,
    ),
    Target("response times, 1000 sets of 100 tasks", "thousand_sets_of_hundred_tasks", 100),
    Target("response times, one set of 1000 tasks", "one_set_of_thousand_tasks", 10),
    Target("synthesis, 10 000 callbacks", "synthesis_of_ten_thousand_callbacks", 100),
    Target(
        "`rclrt analyze` of 1000 callbacks, from the shell",
        None,
        2000,
        verb=("analyze",),
        application=lambda: chains_of_four(250),
    ),
    Target(
        "`rclrt analyze --sensitivity` of 100 timers under EDF at a load of 65 %",
        None,
        1000,
        verb=(*SENSITIVITY, "--executor", "edf"),
        application=lambda: timers(100, 0.65),
    ),
    Target(
        "the same of 25 chains of four callbacks",
        None,
        1000,
        verb=(*SENSITIVITY, "--executor", "edf"),
        application=lambda: chains_of_four(25),
    ),
    Target(
        "`rclrt assign` of 200 callbacks on 8 CPUs, to the first feasible answer, from the shell",
        None,
        5000,
        verb=("assign", "--objective", "feasible", "--dispatch-us", "0"),
        application=lambda: robot_on_cpus(50, 8, 0.5),
    ),
    Target(
        "`rclrt analyze` of 1000 callbacks in 250 chains on 16 CPUs, from the shell",
        None,
        2000,
        verb=("analyze", "--no-search", "--dispatch-us", "0"),
        application=lambda: robot_on_cpus(250, 16, 0.2),
    ),
    Target(
        "`rclrt assign` of the same, with its usual number of evaluations",
        None,
        5000,
        verb=("assign", "--dispatch-us", "0"),
        application=lambda: robot_on_cpus(250, 16, 0.2),
    ),
)


@dataclass(frozen=True)
class Usage:
    """The measurement of one process."""

    wall_ms: float
    cpu_ms: float
    peak_mb: float
    output: str


def run(command: Sequence[str]) -> Usage:
    with tempfile.TemporaryFile("w+") as output:
        started = time.monotonic()
        child = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(child.pid, 0)
        wall_ms = (time.monotonic() - started) * 1e3
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 1):  # 1: a deadline is not proved
            sys.exit(f"{' '.join(command)}: exit code {child.returncode}")
        output.seek(0)
        cpu_ms = (usage.ru_utime + usage.ru_stime) * 1e3
        return Usage(wall_ms, cpu_ms, usage.ru_maxrss / 1024, output.read())


def measure(target: Target, application: Path) -> tuple[float, float, float]:
    """Returns milliseconds of wall and of CPU time, the median of five; and peak memory in MB."""
    if target.benchmark is None:
        application.write_text(json.dumps(target.application()), encoding="utf-8")
        command = [str(HERE.parent / "rclrt"), *target.verb, str(application)]
        runs = [run(command) for _ in range(REPETITIONS)]
        return (
            statistics.median(each.wall_ms for each in runs),
            statistics.median(each.cpu_ms for each in runs),
            max(each.peak_mb for each in runs),
        )
    program = find_program(os.environ, "rclrt_bench", PROGRAM)
    options = {
        "filter": f"^{target.benchmark}$",
        "repetitions": REPETITIONS,
        "report_aggregates_only": "true",
        "format": "json",
    }
    used = run([str(program), *(f"--benchmark_{key}={value}" for key, value in options.items())])
    rows: list[dict[str, Any]] = json.loads(used.output)["benchmarks"]
    median = next(row for row in rows if row["aggregate_name"] == "median")
    if median["time_unit"] != "ms":
        sys.exit(f"{target.benchmark} states {median['time_unit']}; expected ms")
    return median["real_time"], median["cpu_time"], used.peak_mb


def table(results: Sequence[tuple[Target, tuple[float, float, float]]]) -> list[str]:
    lines = [
        "|  | target | wall ms | CPU ms | peak MB | reached |",
        "| --- | --: | --: | --: | --: | --- |",
    ]
    for target, (wall, cpu, peak) in results:
        wanted = f"{target.most_ms:g} ms" + (f", {target.most_mb:g} MB" if target.most_mb else "")
        spent = cpu if target.benchmark else wall
        reached = spent <= target.most_ms and peak <= (target.most_mb or peak)
        lines.append(
            f"| {target.what} | < {wanted} | {wall:.1f} | {cpu:.1f} | {peak:.0f} | "
            f"{'yes' if reached else 'NO'} |"
        )
    return lines


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="rclrt-speed-") as name:
        application = Path(name) / "app.yaml"
        results = [(target, measure(target, application)) for target in TARGETS]
    load = os.getloadavg()[0]
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    kernel = os.uname().release
    lines = [
        f"Measured {day}, Linux {kernel}, {os.cpu_count()} CPUs, load {load:.1f}; medians of "
        f"{REPETITIONS}. The commands are judged by wall time, the others by CPU time of one core.",
        "",
        *table(results),
    ]
    print("\n".join(lines))
    if "--print" not in arguments:
        write_results("analysis-speed.md", "the analysis", Path(__file__).name, "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
