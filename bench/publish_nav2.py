# SPDX-License-Identifier: Apache-2.0
"""Measures how regular Nav2's commands are in ROS 2's isolated container and in rclrt's.

tools/env python3 bench/publish_nav2.py            measures, prints, writes the page
tools/env python3 bench/publish_nav2.py --print    writes nothing; optional: ROUNDS SECONDS
Needs Nav2, launch_ros, rclrt_robot and rclrt_bench in the environment (UNDERLAY for a
workspace that has them), permission for SCHED_FIFO, and an otherwise idle machine.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from bisect import bisect_left
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from results_page import HERE, write_results
from robots import (
    arguments_of,
    client_of,
    cpu_ms,
    find,
    first_release,
    head_of,
    in_turn,
    last_cpus,
    repeats,
    running,
    share_of,
    stolen_ms,
)

PERIOD_NS = 20_000_000
ROUNDS, SECONDS = 3, 15
MOST_SECONDS = 45  # at 0.5 m/s, on a path of 28 m
DOMAIN = {"ROS_DOMAIN_ID": "85", "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
LAUNCH_FILE = HERE.parent / "examples/nav2/nav2.launch.py"
CONTENDERS = {"component_container_isolated": "stock", "rclrt_component_container": "rclrt"}


def launch(container: str, cpus: str) -> int:
    """Launches as `ros2 launch` does, which would need ros2cli."""
    from launch import LaunchDescription, LaunchService
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    arguments = [("container", container), ("prefix", f"taskset -c {cpus}")]
    source = PythonLaunchDescriptionSource(str(LAUNCH_FILE))
    service = LaunchService()
    service.include_launch_description(
        LaunchDescription([IncludeLaunchDescription(source, launch_arguments=arguments)])
    )
    return int(service.run())


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def run_once(name: str, cpus: int, seconds: int) -> dict[str, Any]:
    robot = ["chrt", "-f", "90", str(find("lib/rclrt_bench/simulated_robot")), str(seconds)]
    command = [sys.executable, __file__, "--launch", CONTENDERS[name], last_cpus(cpus)]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        with (
            running(command, log) as launched,
            client_of(robot) as client,
        ):
            assert client.stdout is not None
            begun, started = client.stdout.readline(), children(launched.pid)
            if begun != "begin\n" or not started:
                sys.exit(f"error: {name}: {log.read_text(errors='replace')}")
            cpu, stolen = cpu_ms(started[0]), stolen_ms()
            output = client.stdout.readline()
            if not output or started[0] not in children(launched.pid):
                sys.exit(f"error: {name}: {log.read_text(errors='replace')}")
            cpu, stolen = cpu_ms(started[0]) - cpu, stolen_ms() - stolen
            result: dict[str, Any] = json.loads(output)
            if result["paths_ended"]:
                sys.exit(
                    f"error: {name}: the path ended before the measurement did: "
                    f"{log.read_text(errors='replace')}"
                )
    result |= commands_of(result.pop("arrivals_ns"), result["begin_ns"], result["end_ns"])
    return result | {"cpu_percent": cpu / seconds / 10, "stolen_ms": stolen}


def commands_of(arrivals: list[int], begin_ns: int, end_ns: int) -> dict[str, Any]:
    """Returns the lateness of commands by period, and the number of periods without a command."""
    inside = [time for time in arrivals if begin_ns <= time < end_ns]
    phase = first_release(inside, PERIOD_NS, PERIOD_NS // 4)
    first = begin_ns - (begin_ns - phase) % PERIOD_NS + PERIOD_NS
    late = []
    for release in range(first, end_ns - PERIOD_NS, PERIOD_NS):
        place = bisect_left(inside, release)
        late.append((inside[place] if place < len(inside) else end_ns) - release)
    return {
        "late_ns": sorted(late),
        "missed": sum(time >= PERIOD_NS for time in late),
        "gap_ms": max(b - a for a, b in pairwise(inside)) / 1e6,
    }


def row(name: str, runs: list[dict[str, Any]], seconds: int) -> str:
    late = [run["late_ns"] for run in runs]
    missed = sum(run["missed"] for run in runs)
    return (
        f"| {name} | {statistics.median(share_of(each, 0.5) for each in late):.0f} "
        f"| {statistics.median(share_of(each, 0.99) for each in late):.0f} "
        f"| {max(share_of(each, 1) for each in late):.0f} "
        f"| {missed} of {sum(len(each) for each in late)} "
        f"| {max(run['gap_ms'] for run in runs):.1f} "
        f"| {statistics.median(run['cpu_percent'] for run in runs):.0f} "
        f"| {statistics.median(run['plans'] for run in runs) / seconds:.1f} |"
    )


def given_up(runs: dict[str, list[dict[str, Any]]]) -> str:
    counts = [sum(run["failures"] for run in each) for each in runs.values()]
    return f"Plans that failed or took longer than 2 s: {', '.join(map(str, counts))}."


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--launch"]:
        return launch(*arguments[1:])
    prints, rounds, seconds = arguments_of(arguments, ROUNDS, SECONDS)
    if seconds > MOST_SECONDS:
        sys.exit(
            f"error: {seconds} s; expected at most {MOST_SECONDS}, after which the robot reaches "
            "its goal"
        )
    head = head_of(("nav2_controller", "rclcpp"))
    os.environ.update(DOMAIN)
    allowed = len(os.sched_getaffinity(0))
    lines: list[str] = []
    repeated = disturbed = 0
    for cpus in (count for count in (1, 2) if count <= allowed):
        run = partial(run_once, cpus=cpus, seconds=seconds)
        runs, again, kept = in_turn(list(CONTENDERS), rounds, run)
        repeated += again
        disturbed += kept
        lines += [
            "",
            f"| cmd_vel at 50 Hz, {cpus} CPU{'s' if cpus > 1 else ''} | p50 us | p99 us | max us "
            "| periods without a command | longest without one ms | CPU % | plans/s |",
            "| --- | --: | --: | --: | --: | --: | --: | --: |",
            *(row(name, each, seconds) for name, each in runs.items()),
            "",
            given_up(runs),
        ]
    how = (
        f"* {rounds} rounds of {seconds} s each, in turn; p50, p99, CPU and plans are the median "
        f"round's, max and longest the worst round's; {repeats(repeated, disturbed)}"
    )
    text = "\n".join([head, "", how, *lines])
    print(text)
    if not prints:
        write_results("nav2.md", "nav2", Path(__file__).name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
