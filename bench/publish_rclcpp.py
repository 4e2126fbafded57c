# SPDX-License-Identifier: Apache-2.0
"""Compares rclrt's executors with rclcpp's, on rclcpp nodes, and writes the page.

tools/env python3 bench/publish_rclcpp.py            measures, prints, and writes
tools/env python3 bench/publish_rclcpp.py --print    writes nothing
Needs rclrt_rclcpp built with its tests (make test-rclcpp), and an otherwise idle machine.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from results_page import HERE, write_results

OURS = "rclrt preemptive"
ROUNDS = {1: 7, 2: 3}  # by the number of CPUs
SECONDS = 1
# Contenders that so few rounds cannot distinguish are compared pair by pair in more rounds.
CLOSE_CASE, CLOSE_ROUNDS = "message", 40


def program() -> Path:
    build = HERE.parent / "build" / f"{os.environ['RCLRT_DISTRO']}-{os.environ['RCLRT_PRESET']}"
    found = build / "rclrt_rclcpp" / "rclrt_rclcpp_bench"
    if not found.is_file():
        print(f"error: {found} is missing.\nfix: make test-rclcpp", file=sys.stderr)
        sys.exit(2)
    return found


def measure(cpus: int, rounds: int, *options: str) -> dict[str, Any]:
    command = [str(program()), "--json", "--cpus", str(cpus), "--rounds", str(rounds)]
    command += ["--seconds", str(SECONDS), *options]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    result: dict[str, Any] = json.loads(output)
    return result


def table(run: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    cases = list(dict.fromkeys(row["case"] for row in run["results"]))
    for case in cases:
        rows = [row for row in run["results"] if row["case"] == case]
        ours = next(row for row in rows if row["executor"] == OURS)
        lines += [
            "",
            f"| {case}, {run['cpus']} CPU{'s' if run['cpus'] > 1 else ''} | p50 us | p99 us | "
            f"p99 / {OURS}'s | max us | lost % | worst lost % | CPU us | allocations |",
            "| --- | --: | --: | --: | --: | --: | --: | --: | --: |",
        ]
        lines += [
            f"| {row['executor']} | {row['p50_us']:.1f} | {row['p99_us']:.1f} | "
            f"{row['p99_us'] / ours['p99_us']:.1f} | {row['max_us']:.0f} | "
            f"{row['lost_percent']:.1f} | {row['worst_lost_percent']:.1f} | "
            f"{row['cpu_us']:.1f} | {row['allocations']:.1f} |"
            for row in rows
        ]
    return lines


def median_of_ratios(values: list[float], ours: list[float]) -> str:
    """Returns the median of the ratios `values[i]` / `ours[i]` of the rounds i, and its 95 %
    confidence interval, as text.

    The interval is between two order statistics. Their rank is binomial (approximated by the normal
    distribution), so no distribution of the ratios is assumed; the rounds must be independent.
    """
    ratios = sorted(value / own for value, own in zip(values, ours, strict=True))
    rank = max(0, round((len(ratios) - 1.96 * math.sqrt(len(ratios))) / 2) - 1)
    low, high = ratios[rank], ratios[-1 - rank]
    return f"{statistics.median(ratios):.2f} ({low:.2f} to {high:.2f})"


def close_table(run: dict[str, Any]) -> list[str]:
    rows = run["results"]
    ours = next(row for row in rows if row["executor"] == OURS)
    figures = {"p50_us": "p50", "p99_us": "p99", "cpu_us": "CPU"}
    lines = [
        "",
        f"| {CLOSE_CASE}, 1 CPU, {run['rounds']} rounds | "
        + " | ".join(f"{title} / {OURS}'s" for title in figures.values())
        + " |",
        "| --- |" + " --: |" * len(figures),
    ]
    lines += [
        f"| {row['executor']} | "
        + " | ".join(
            median_of_ratios(row[f"{name}_rounds"], ours[f"{name}_rounds"]) for name in figures
        )
        + " |"
        for row in rows
        if row is not ours
    ]
    return lines


def main(arguments: list[str]) -> int:
    load = os.getloadavg()[0]
    close = measure(1, CLOSE_ROUNDS, "--case", CLOSE_CASE)
    allowed = len(os.sched_getaffinity(0))
    runs = [measure(cpus, rounds) for cpus, rounds in ROUNDS.items() if cpus <= allowed]
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    scheduling = "SCHED_FIFO" if runs[0]["realtime"] else "normal scheduling"
    lines = [
        f"Measured {day}, rclcpp {runs[0]['rclcpp']} ({os.environ['RCLRT_DISTRO']}), Linux "
        f"{os.uname().release}, {os.cpu_count()} CPUs, load {load:.1f} before, {scheduling}.",
        "",
        *(
            f"* {run['cpus']} CPU{'s' if run['cpus'] > 1 else ''}: the median of "
            f"{run['rounds']} rounds of {run['seconds']} s, max and worst the worst round's; "
            f"{run['repeated']} were made again because the host took more than 10 ms"
            for run in runs
        ),
        f"* The last table: the median of the ratios within each of {close['rounds']} rounds, and "
        f"its 95 % confidence interval; {close['repeated']} runs were made again",
        *(line for run in runs for line in table(run)),
        *close_table(close),
    ]
    print("\n".join(lines))
    if "--print" not in arguments:
        write_results("beside-rclcpp.md", "rclcpp", Path(__file__).name, "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
