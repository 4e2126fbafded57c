# SPDX-License-Identifier: Apache-2.0
"""Synchronisers of unequal rates on real ROS 2: a message left over is no miss."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from running import GENEROUS_S, RUNNER

APPLICATION = """\
rclrt: 1
name: fusion
nodes: [{{name: base}}]
callbacks:
  - {{id: imu, node: base, timer: {{period_ms: 10}}, wcet_ms: 0.05, publishes: [imu]}}
  - {{id: camera, node: base, timer: {{period_ms: {period}}}, wcet_ms: 0.05, publishes: [image]}}
  - {{id: fuse, node: base, sync: {{topics: [imu, image], depth: {depth}}}, wcet_ms: 0.05,
     publishes: [pose]}}
  - {{id: act, node: base, subscription: {{topic: pose}}, wcet_ms: 0.05}}
chains:
  - {{id: fast, callbacks: [imu, fuse, act], deadline_ms: 3600000}}
  - {{id: slow, callbacks: [camera, fuse, act], deadline_ms: 3600000}}
"""
"""Deadlines that even a busy machine keeps: only a lost message would be a miss."""


@pytest.mark.parametrize(
    ("executor", "period", "depth"),
    [("preemptive", 20, 10), ("wait_set", 33, 10), ("preemptive", 100, 3)],
)
def test_messages_that_no_set_needed_are_counted_apart(
    tmp_path: Path, executor: str, period: int, depth: int
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(APPLICATION.format(period=period, depth=depth))
    done = subprocess.run(
        [RUNNER, app, "--executor", executor, "--seconds", "0.6", "--out", tmp_path / "out"],
        capture_output=True, text=True, timeout=GENEROUS_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads((tmp_path / "out" / "results.json").read_text())
    fast, slow = results["chains"]
    for chain in (fast, slow):
        parts = ("completed", "dropped", "pending", "unmatched")
        assert chain["released"] == sum(chain[part] for part in parts)
    # Each set has a message of both. One at the end may have a partner that was released when the
    # run was over, and only what was released in it counts.
    with (tmp_path / "out" / "instances.csv").open() as file:
        acted = [
            dict(token.split(":") for token in row["tokens"].split(";"))
            for row in csv.DictReader(file)
            if row["callback"] == "act" and row["outcome"] == "ran"
        ]
    assert acted
    for chain in (fast, slow):
        numbers = [int(tokens[chain["id"]]) for tokens in acted]
        assert len(set(numbers)) == len(numbers)
        assert chain["completed"] == sum(number < chain["released"] for number in numbers)
    assert fast["unmatched"] >= fast["released"] / 4
    # A busy machine may fill a queue, and then a release is lost; a message left over never is.
    lost = sum(each["dropped"] for each in results["callbacks"])
    assert fast["dropped"] + slow["dropped"] <= 2 * lost
    buffered = (tmp_path / "out" / "instances.csv").read_text().count(",buffered,fast:")
    assert buffered >= fast["unmatched"]
