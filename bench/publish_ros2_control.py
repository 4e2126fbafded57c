# SPDX-License-Identifier: Apache-2.0
"""Measures ros2_control's loop under its own node, in a MultiThreadedExecutor, and under rclrt.

tools/env python3 bench/publish_ros2_control.py            measures, prints, writes the page
tools/env python3 bench/publish_ros2_control.py --print    writes nothing; optional: ROUNDS SECONDS
Needs rclrt_ros2_control, ros2_control and ros2_controllers in the environment (UNDERLAY for a
workspace that has them), permission for SCHED_FIFO, and an otherwise idle machine.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from bisect import bisect_left
from functools import partial
from pathlib import Path
from typing import Any

from results_page import write_results
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

PERIOD_NS = 1_000_000
ROUNDS, SECONDS = 5, 20
DOMAIN = {"ROS_DOMAIN_ID": "83", "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
SHARE = "share/rclrt_ros2_control"
CONTENDERS = {
    "ros2_control_node: a thread": ("controller_manager", "ros2_control_node", []),
    "timer, MultiThreadedExecutor of 8": ("rclrt_ros2_control", "multi_threaded_timer", []),
    "rclrt_ros2_control_node": (
        "rclrt_ros2_control",
        "rclrt_ros2_control_node",
        ["-p", "robot:={share}/robot.yaml"],
    ),
}


def run_once(name: str, cpus: int, seconds: int) -> dict[str, Any]:
    package, program, options = CONTENDERS[name]
    share = find(SHARE)
    with tempfile.TemporaryDirectory() as folder:
        probe, log = Path(folder, "probe"), Path(folder, "log")
        command = ["taskset", "-c", last_cpus(cpus), str(find(f"lib/{package}/{program}"))]
        command += ["--ros-args", "--log-level", "warn"]
        command += ["--params-file", f"{share}/controllers.yaml"]
        command += [option.format(share=share) for option in options]
        load = [str(find("lib/rclrt_ros2_control/service_load")), str(seconds)]
        load += [f"{share}/robot.urdf", str(probe)]
        with (
            running(command, log) as manager,
            client_of(load) as client,
        ):
            assert client.stdout is not None
            begun = client.stdout.readline()
            cpu, stolen, since = cpu_ms(manager.pid), stolen_ms(), time.monotonic()
            output = client.stdout.readline()
            if begun != "begin\n" or not output:
                sys.exit(f"error: {name}: {log.read_text(errors='replace')}")
            cpu, stolen = cpu_ms(manager.pid) - cpu, stolen_ms() - stolen
            passed = time.monotonic() - since
        result: dict[str, Any] = json.loads(output)
        result |= cycles_of(probe, result["begin_ns"], result["end_ns"])
        return result | {"cpu_percent": cpu / passed / 10, "stolen_ms": stolen}


def cycles_of(probe: Path, begin_ns: int, end_ns: int) -> dict[str, Any]:
    """Computes three results from the reads and writes of the hardware that the file `probe` lists.
    "late_ns": for each release of the loop, how late the next cycle read the hardware, sorted.
    "missed": the number of releases without a cycle that read and wrote the hardware before the
    next release. "gap_ms": the longest time without a write."""
    events = [line.split() for line in probe.read_text().splitlines()]
    reads = [int(time) for kind, time, *_ in events if kind == "read"]
    writes = [int(time) for kind, time, *_ in events if kind == "write"]
    inside = [read for read in reads if begin_ns <= read < end_ns]
    phase = first_release(inside, PERIOD_NS, 50_000)
    first = begin_ns - (begin_ns - phase) % PERIOD_NS + PERIOD_NS
    late: list[int] = []
    missed = 0
    for release in range(first, end_ns - PERIOD_NS, PERIOD_NS):
        read = bisect_left(reads, release)
        if read == len(reads):
            break
        late.append(reads[read] - release)
        write = bisect_left(writes, reads[read])
        missed += write == len(writes) or writes[write] > release + PERIOD_NS
    written = [write for write in writes if begin_ns <= write < end_ns]
    return {
        "late_ns": sorted(late),
        "missed": missed,
        "gap_ms": max(b - a for a, b in itertools.pairwise(written)) / 1e6,
    }


def row(name: str, runs: list[dict[str, Any]]) -> str:
    late = [run["late_ns"] for run in runs]
    releases = sum(len(each) for each in late)
    missed = sum(run["missed"] for run in runs)
    seconds = [(run["end_ns"] - run["begin_ns"]) / 1e9 for run in runs]
    calls = statistics.median(
        sum(run["calls"].values()) / time_s for run, time_s in zip(runs, seconds, strict=True)
    )
    reloads = statistics.median(
        run["calls"]["load_and_unload"] / time_s for run, time_s in zip(runs, seconds, strict=True)
    )
    return (
        f"| {name} | {statistics.median(share_of(each, 0.5) for each in late):.1f} "
        f"| {statistics.median(share_of(each, 0.99) for each in late):.1f} "
        f"| {max(share_of(each, 1) for each in late):.0f} "
        f"| {missed} of {releases} | {max(run['gap_ms'] for run in runs):.2f} "
        f"| {statistics.median(run['cpu_percent'] for run in runs):.0f} | {calls:.0f} "
        f"| {reloads:.1f} |"
    )


def named_causes(runs: list[dict[str, Any]]) -> str:
    """Returns the callback that delayed the loop most, according to the monitor."""
    total: dict[str, float] = {}
    for run in runs:
        for name, time_ms in run["in_the_way_ms"].items():
            total[name] = total.get(name, 0) + time_ms
    worst = sorted(total.items(), key=lambda each: -each[1])[:4]
    return ", ".join(f"{name} {time_ms:.1f} ms" for name, time_ms in worst) or "nothing"


def main(arguments: list[str]) -> int:
    prints, rounds, seconds = arguments_of(arguments, ROUNDS, SECONDS)
    head = head_of(("controller_manager", "diff_drive_controller", "rclcpp"))
    os.environ.update(DOMAIN)
    allowed = len(os.sched_getaffinity(0))
    lines: list[str] = []
    repeated = disturbed = 0
    for cpus in (count for count in (1, 2) if count <= allowed):
        run = partial(run_once, cpus=cpus, seconds=seconds)
        runs, again, kept = in_turn(list(CONTENDERS), rounds, run)
        repeated += again
        disturbed += kept
        title = f"{cpus} CPU{'s' if cpus > 1 else ''}"
        lines += [
            "",
            f"| the loop on {title} | p50 us | p99 us | max us | releases missed "
            "| longest without a write ms | CPU % | calls/s | of them load and unload |",
            "| --- | --: | --: | --: | --: | --: | --: | --: | --: |",
            *(row(name, each) for name, each in runs.items()),
            "",
            f"On {title} the monitor of rclrt_ros2_control_node named: "
            f"{named_causes(runs['rclrt_ros2_control_node'])}.",
        ]
    how = (
        f"* {rounds} rounds of {seconds} s each, in turn; p50, p99, CPU and calls are the median "
        f"round's, max and longest the worst round's; {repeats(repeated, disturbed)}"
    )
    text = "\n".join([head, "", how, *lines])
    print(text)
    if not prints:
        write_results("ros2-control.md", "ros2_control", Path(__file__).name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
