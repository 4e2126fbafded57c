# SPDX-License-Identifier: Apache-2.0
"""A message left over by synchronisers of unequal rates is no miss; a lost message is one."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

SIMULATE = os.environ["RCLRT_SIMULATOR"]
EXECUTORS = ("wait_set", "events", "producer_consumer", "preemptive", "static_order")


def simulate(directory: Path, text: str, executor: str = "preemptive") -> dict[str, Any]:
    """The chains of two seconds, by their names."""
    directory.mkdir(exist_ok=True)
    app = directory / "app.yaml"
    app.write_text("rclrt: 1\nname: fusion\nnodes: [{name: n}]\n" + text)
    done = subprocess.run(
        [SIMULATE, app, "--executor", executor, "--seconds", "2", "--out", directory / "out"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads((directory / "out" / "results.json").read_text())["chains"]
    for chain in found:
        counted = sum(chain[key] for key in ("completed", "dropped", "pending", "unmatched"))
        assert chain["released"] == counted
        rows = (directory / "out" / "chains.csv").read_text().splitlines()
        statuses = Counter(row.split(",")[5] for row in rows if row.startswith(chain["id"] + ","))
        assert statuses["unmatched"] == chain["unmatched"]
        assert statuses["dropped"] == chain["dropped"]
    return {chain["id"]: chain for chain in found}


def fusion(imu_ms: float, camera_ms: float, sync: str = "") -> str:
    return f"""\
callbacks:
  - {{id: imu, node: n, timer: {{period_ms: {imu_ms}}}, wcet_ms: 0.2, publishes: [imu]}}
  - {{id: camera, node: n, timer: {{period_ms: {camera_ms}}}, wcet_ms: 0.5, publishes: [image]}}
  - {{id: fuse, node: n, sync: {{topics: [imu, image]{sync}}}, wcet_ms: 1, publishes: [pose]}}
  - {{id: control, node: n, subscription: {{topic: pose}}, wcet_ms: 0.1}}
chains:
  - {{id: fast, callbacks: [imu, fuse, control], deadline_ms: 45}}
  - {{id: slow, callbacks: [camera, fuse, control], deadline_ms: 45}}
"""


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    ("imu_ms", "camera_ms", "sync"),
    [
        (20, 40, ""),  # 1 to 2
        (10, 33, ""),  # 10 to 33: never in step
        (10, 33, ", window_ms: 4"),  # two of three images have no partner
        (10, 40, ", policy: exact"),
        (5, 100, ", depth: 10"),  # twenty to one: half of them make room for newer ones
        (5, 100, ", depth: 1"),
    ],
)
def test_unequal_rates_leave_messages_over_and_miss_nothing(
    imu_ms: float, camera_ms: float, sync: str, executor: str, tmp_path: Path
) -> None:
    chains = simulate(tmp_path, fusion(imu_ms, camera_ms, sync), executor)
    fast, slow = chains["fast"], chains["slow"]
    assert (fast["missed"], fast["dropped"], slow["missed"], slow["dropped"]) == (0, 0, 0, 0)
    assert fast["completed"] == slow["completed"] > 5
    # A set has one message of each; those at the end of the run may still wait.
    waiting = fast["pending"]
    assert fast["unmatched"] == fast["released"] - fast["completed"] - waiting
    assert waiting <= max(2 * camera_ms, 132) / imu_ms
    assert fast["unmatched"] >= fast["released"] / 4


def test_two_synchronisers_behind_each_other_leave_over_what_each_does(tmp_path: Path) -> None:
    chains = simulate(
        tmp_path,
        """\
callbacks:
  - {id: gyro, node: n, timer: {period_ms: 5}, wcet_ms: 0.1, publishes: [gyro]}
  - {id: accel, node: n, timer: {period_ms: 10}, wcet_ms: 0.1, publishes: [accel]}
  - {id: gps, node: n, timer: {period_ms: 100}, wcet_ms: 0.1, publishes: [fix]}
  - {id: imu, node: n, sync: {topics: [gyro, accel]}, wcet_ms: 0.1, publishes: [imu]}
  - {id: locate, node: n, sync: {topics: [imu, fix], depth: 20}, wcet_ms: 0.1}
chains:
  - {id: turn, callbacks: [gyro, imu, locate], deadline_ms: 20}
  - {id: move, callbacks: [accel, imu, locate], deadline_ms: 20}
  - {id: fix, callbacks: [gps, locate]}
""",
    )
    assert [chains[name]["missed"] for name in chains] == [0, 0, 0]
    assert [chains[name]["dropped"] for name in chains] == [0, 0, 0]
    assert [chains[name]["completed"] for name in chains] == [20, 20, 20]
    assert chains["turn"]["unmatched"] > 300 > chains["move"]["unmatched"] > 150
    assert chains["fix"]["unmatched"] == 0


def test_three_inputs_are_as_slow_as_the_slowest(tmp_path: Path) -> None:
    chains = simulate(
        tmp_path,
        """\
callbacks:
  - {id: a, node: n, timer: {period_ms: 7}, wcet_ms: 0.1, publishes: [a]}
  - {id: b, node: n, timer: {period_ms: 20}, wcet_ms: 0.1, publishes: [b]}
  - {id: c, node: n, event: {min_interval_ms: 50, max_interval_ms: 90}, wcet_ms: 0.1,
     publishes: [c]}
  - {id: join, node: n, sync: {topics: [a, b, c], depth: 3}, wcet_ms: 0.1}
chains:
  - {id: a, callbacks: [a, join], deadline_ms: 60}
  - {id: b, callbacks: [b, join], deadline_ms: 60}
  - {id: c, callbacks: [c, join], deadline_ms: 60}
""",
    )
    assert [(chains[name]["missed"], chains[name]["dropped"]) for name in "abc"] == [(0, 0)] * 3


def test_what_a_full_queue_loses_before_the_synchroniser_is_dropped_and_missed(
    tmp_path: Path,
) -> None:
    """A callback of 45 ms holds the only CPU: two of the four waiting images fit."""
    chains = simulate(
        tmp_path,
        """\
executors: [{name: main, cpus: [0]}]
callbacks:
  - {id: left, node: n, timer: {period_ms: 10}, wcet_ms: 0.1, publishes: [left], priority: 3}
  - {id: right, node: n, timer: {period_ms: 10}, wcet_ms: 0.1, publishes: [right], priority: 3}
  - {id: block, node: n, timer: {period_ms: 100}, wcet_ms: 45, priority: 2}
  - {id: fuse, node: n, sync: {topics: [left, right], depth: 2}, wcet_ms: 0.1, priority: 1}
chains:
  - {id: left, callbacks: [left, fuse]}
""",
    )
    assert chains["left"]["dropped"] > 20
    assert chains["left"]["missed"] >= chains["left"]["dropped"]


def test_a_depth_that_is_too_short_for_what_comes_late_loses_messages(tmp_path: Path) -> None:
    """The image comes 35 ms after its stamp: the IMU message of that stamp is dropped by then."""
    late = """\
executors: [{name: main, cpus: [0]}]
callbacks:
  - {id: imu, node: n, timer: {period_ms: 10}, wcet_ms: 0.1, publishes: [imu], priority: 9}
  - {id: camera, node: n, timer: {period_ms: 100}, wcet_ms: 35, publishes: [image], priority: 1}
  - {id: fuse, node: n, sync: {topics: [imu, image], window_ms: 100, depth: DEPTH}, wcet_ms: 0.1,
     priority: 5}
chains: [{id: see, callbacks: [imu, fuse], deadline_ms: 50}]
"""
    chain = simulate(tmp_path, late.replace("DEPTH", "2"))["see"]
    assert (chain["completed"], chain["dropped"], chain["missed"]) == (20, 20, 20)
    chain = simulate(tmp_path / "enough", late.replace("DEPTH", "4"))["see"]
    assert (chain["completed"], chain["dropped"], chain["missed"]) == (20, 0, 0)


def test_a_synchroniser_that_never_makes_a_set_misses(tmp_path: Path) -> None:
    text = fusion(10, 20, ", policy: exact").replace(
        "period_ms: 20}", "period_ms: 20, offset_ms: 1}"
    )
    chains = simulate(tmp_path, text)
    assert chains["fast"]["completed"] == 0
    assert chains["fast"]["missed"] > 190
    assert chains["slow"]["missed"] > 90


def test_an_input_that_stops_midway_is_missed_by_the_other(tmp_path: Path) -> None:
    """The camera is too slow for its period from the first image on: it never comes again."""
    text = fusion(10, 40).replace("wcet_ms: 0.5", "wcet_ms: 1900")
    chains = simulate(tmp_path, text.replace("8}", "30}"))
    assert chains["fast"]["missed"] > 90


def test_a_miss_names_the_synchroniser_as_where_it_waited(tmp_path: Path) -> None:
    text = fusion(10, 20, ", policy: exact").replace(
        "period_ms: 20}", "period_ms: 20, offset_ms: 1}"
    )
    simulate(tmp_path, text)
    misses = json.loads((tmp_path / "out" / "results.json").read_text())["misses"]
    fast = [miss for miss in misses if miss["chain"] == "fast"]
    assert {miss["status"] for miss in fast} == {"pending"}
    # Its own 0.2 ms and the check of the synchroniser; no callback causes the rest.
    assert all(0.2 <= miss["execution_ms"] <= 0.6 for miss in fast)
