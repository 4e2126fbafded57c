# SPDX-License-Identifier: Apache-2.0
"""Measures the reference system's own figures under its own programs and on rclrt's executors.

tools/env python3 bench/publish_reference_system.py            measures, prints, writes the page
tools/env python3 bench/publish_reference_system.py --print    writes nothing
Optional arguments: ROUNDS, and SECONDS of each round.
Needs autoware_reference_system, rclrt_rclcpp and rclrt_bench in the environment (UNDERLAY
for a workspace that has them), permission for SCHED_FIFO, and an otherwise idle machine.
"""

from __future__ import annotations

import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from callback_isolated import configurator, realtime_threads, wait_for, write_config
from rclrt_py.executors import KINDS
from results_page import write_results
from robots import (
    arguments_of,
    cpu_ms,
    find,
    head_of,
    in_turn,
    last_cpus,
    repeats,
    running,
    stolen_ms,
)

ROUNDS, SECONDS = 3, 5
THEIRS = "lib/autoware_reference_system/autoware_default_"
OURS = "lib/rclrt_bench/reference_nodes"
CONFIGURED = "callback_isolated"
CONTENDERS = {
    "rclcpp SingleThreaded": [f"{THEIRS}singlethreaded"],
    "rclcpp StaticSingleThreaded": [f"{THEIRS}staticsinglethreaded"],
    "rclcpp MultiThreaded": [f"{THEIRS}multithreaded"],
    "rclcpp Events": [OURS, "events"],
    "five SingleThreaded, by node": [f"{THEIRS}prioritized"],
    "five SingleThreaded, by group": [f"{THEIRS}cbg"],
    "callback_isolated, nothing said": [OURS, "callback_isolated"],
    CONFIGURED: [OURS, "callback_isolated", "ordered"],
    "rclrt preemptive, nothing said": [OURS, "preemptive"],
    **{
        f"rclrt {kind.name}": [OURS, kind.name, "ordered"]
        for kind in KINDS.values()
        if kind.on_rclcpp
    },
}
TAKE_THEIR_CPUS = ("prioritized", "cbg")
"""Programs that set the affinity of their threads, to CPU 0 and to others."""

SAMPLE = re.compile(
    r"^sample path: \(VehicleDBWSystem\).*?^  hot path latency: +(?P<hot_path_ms>[\d.e+-]+)ms "
    r".*?^  hot path drops: +(?P<drops>\d+) "
    r".*?^  behavior planner period: +(?P<period_ms>[\d.e+-]+)ms ",
    re.MULTILINE | re.DOTALL,
)


def samples_of(text: str) -> list[dict[str, float]]:
    """Returns the figures that the sink of the system prints for each command that it gets."""
    blocks = text.split("-" * 58 + "\n")
    found = (SAMPLE.search(block) for block in blocks)
    return [
        {name: float(value) for name, value in each.groupdict().items()} for each in found if each
    ]


def commands_in(log: Path) -> list[dict[str, float]]:
    return samples_of(log.read_text(errors="replace"))


def high_water_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def run_once(name: str, cpus: int, seconds: int) -> dict[str, Any]:
    program, *arguments = CONTENDERS[name]
    command = ["taskset", "-c", last_cpus(cpus), str(find(program)), *arguments]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as configured:
        log = Path(folder, "log")
        has_priorities: Callable[[], bool] = lambda: True  # noqa: E731
        groups = 0  # number of groups that get their priorities from a configurator
        if name == CONFIGURED:
            config = write_config(command, lambda log: bool(commands_in(log)), Path(folder))
            groups = config.read_text().count("SCHED_FIFO")
            has_priorities = configured.enter_context(configurator(config, Path(folder)))
        with running(command, log) as process:
            wait_for(lambda: process.poll() is not None or bool(commands_in(log)), name)
            if process.poll() is not None:
                sys.exit(f"error: {name}: {log.read_text(errors='replace')[-2000:]}")
            wait_for(has_priorities, f"the configurator of {name}")
            if realtime_threads(process.pid) < groups:
                sys.exit(f"error: {name}: fewer than {groups} threads run under SCHED_FIFO")
            cpu, stolen, first = cpu_ms(process.pid), stolen_ms(), len(commands_in(log))
            time.sleep(seconds)
            if process.poll() is not None:
                sys.exit(f"error: {name}: {log.read_text(errors='replace')[-2000:]}")
            samples = commands_in(log)[first:]
            cpu, stolen = cpu_ms(process.pid) - cpu, stolen_ms() - stolen
            memory = high_water_mb(process.pid)
    if not samples:
        sys.exit(f"error: {name}: no command in {seconds} s")
    return {
        **{key: [each[key] for each in samples] for key in samples[0]},
        "cpu_percent": cpu / seconds / 10,
        "memory_mb": memory,
        "stolen_ms": stolen,
    }


def quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))]


def row(name: str, runs: list[dict[str, Any]]) -> str:
    def median(figure: Callable[[dict[str, Any]], float]) -> float:
        return statistics.median([figure(run) for run in runs])

    return (
        f"| {name} | {median(lambda run: quantile(run['hot_path_ms'], 0.5)):.1f} "
        f"| {median(lambda run: quantile(run['hot_path_ms'], 0.9)):.1f} "
        f"| {max(max(run['hot_path_ms']) for run in runs):.1f} "
        f"| {median(lambda run: statistics.fmean(run['drops'])):.2f} "
        f"| {median(lambda run: statistics.fmean(run['period_ms'])):.1f} "
        f"| {median(lambda run: statistics.pstdev(run['period_ms'])):.2f} "
        f"| {median(lambda run: run['cpu_percent']):.0f} "
        f"| {median(lambda run: run['memory_mb']):.0f} |"
    )


def names_for(cpus: int) -> list[str]:
    return [
        name
        for name, (program, *_) in CONTENDERS.items()
        if cpus > 1 or not program.endswith(TAKE_THEIR_CPUS)
    ]


def main(arguments: list[str]) -> int:
    prints, rounds, seconds = arguments_of(arguments, ROUNDS, SECONDS)
    head = head_of(("autoware_reference_system", "rclcpp"))
    lines: list[str] = []
    repeated = disturbed = 0
    for cpus in (1, 2):
        run = partial(run_once, cpus=cpus, seconds=seconds)
        runs, again, kept = in_turn(names_for(cpus), rounds, run)
        repeated += again
        disturbed += kept
        lines += [
            "",
            f"| {cpus} CPU{'s' if cpus > 1 else ''} | hot path p50 ms | p90 ms | max ms | drops "
            "| planner's period ms | its deviation ms | CPU % | memory MB |",
            "| --- | --: | --: | --: | --: | --: | --: | --: | --: |",
            *(row(name, each) for name, each in runs.items()),
        ]
    how = (
        f"* {rounds} rounds of {seconds} s each, in turn; every figure is the median round's, the "
        f"max the worst round's; {repeats(repeated, disturbed)}"
    )
    text = "\n".join([head, "", how, *lines])
    print(text)
    if not prints:
        write_results("reference-system.md", "the reference system", Path(__file__).name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
