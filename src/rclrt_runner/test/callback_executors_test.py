# SPDX-License-Identifier: Apache-2.0
"""Callbacks of one node in different executors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rclrt_py.executors import EXECUTORS
from running import run

SPLIT = """\
rclrt: 1
name: split
executors: [{name: first}, {name: second}]
nodes: [{name: only, executor: first}]
callbacks:
  - {id: tick, node: only, timer: {period_ms: 20}, wcet_ms: 0.2, publishes: [ticks], priority: 2}
  - {id: work, node: only, subscription: {topic: ticks}, wcet_ms: 0.2, priority: 1,
     executor: second}
chains:
  - {id: all, callbacks: [tick, work], priority: 1}
"""


@pytest.mark.parametrize("executor", EXECUTORS)
def test_callbacks_of_one_node_run_in_different_executors(tmp_path: Path, executor: str) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(SPLIT)
    done = run(path, tmp_path / "out", executor)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    chain = results["chains"][0]
    assert chain["released"] == 30  # 0.6 s / 20 ms
    assert chain["completed"] > 0
    assert chain["released"] == chain["completed"] + chain["dropped"] + chain["pending"]
    hops = [(each["from"], each["to"], each["between"]) for each in results["hops"]]
    assert hops == [("tick", "work", "executors")]
    levels = {each["id"]: each["kernel_priority"] for each in results["callbacks"]}
    if executor in ("preemptive", "thread_dispatch", "producer_consumer") and levels["tick"]:
        # Each is at the highest priority of its own executor. In one they would be neighbours.
        assert levels["tick"] == levels["work"]
