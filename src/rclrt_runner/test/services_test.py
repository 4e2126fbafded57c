# SPDX-License-Identifier: Apache-2.0
"""Services and clients of an application, on real ROS 2."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.executors import EXECUTORS
from running import GENEROUS_S, RUNNER, rows, run, without_fork

TWO_CALLERS = """\
rclrt: 1
name: two_callers
nodes: [{name: front}, {name: rear, namespace: /back}, {name: planner}]
callbacks:
  - {id: ask_front, node: front, timer: {period_ms: 20}, wcet_ms: 0.2, calls: [way_front]}
  - {id: ask_rear, node: rear, timer: {period_ms: 20}, wcet_ms: 0.2, calls: [way_rear]}
  - {id: plan, node: planner, service: {name: /plan}, wcet_ms: 0.3}
  - {id: way_front, node: front, client: {service: /plan}, wcet_ms: 0.1, publishes: [/way]}
  - {id: way_rear, node: rear, client: {service: /plan}, wcet_ms: 0.1, calls: [detailed]}
  - {id: drive, node: planner, subscription: {topic: /way}, wcet_ms: 0.1}
  - {id: detail, node: planner, service: {name: /detail, depth: 3}, wcet_ms: 0.1}
  - {id: detailed, node: rear, client: {service: /detail}, wcet_ms: 0.1, group: last}
chains:
  - {id: front, callbacks: [ask_front, plan, way_front, drive], priority: 2}
  - {id: rear, callbacks: [ask_rear, plan, way_rear, detail, detailed], priority: 1}
"""
PROCESSES = """\
executors:
  - {name: front_executor, process: front}
  - {name: rear_executor, process: rear}
  - {name: planning}
nodes:
  - {name: front, executor: front_executor}
  - {name: rear, namespace: /back, executor: rear_executor}
  - {name: planner, executor: planning}
"""


def tokens_of(out: Path, callback: str) -> list[str]:
    ran = [row for row in rows(out / "instances.csv") if row["outcome"] == "ran"]
    return [row["tokens"] for row in ran if row["callback"] == callback]


def check_chains(out: Path) -> dict[str, Any]:
    """Checks that every instance's response came back along its own chain."""
    results: dict[str, Any] = json.loads((out / "results.json").read_text())
    for chain in results["chains"]:
        assert chain["completed"] + chain["dropped"] + chain["pending"] == chain["released"]
        assert chain["completed"] > 0
        for before, after in zip(chain["callbacks"], chain["callbacks"][1:], strict=False):
            own = [each for each in tokens_of(out, before) if each.startswith(chain["id"])]
            arrived = [each for each in tokens_of(out, after) if each.startswith(chain["id"])]
            assert len(set(arrived)) == len(arrived) > 0
            assert set(arrived) <= set(own)
    # A response goes to its own client, and each request is served once.
    assert {each.split(":")[0] for each in tokens_of(out, "way_front")} == {"front"}
    assert {each.split(":")[0] for each in tokens_of(out, "way_rear")} == {"rear"}
    assert {each.split(":")[0] for each in tokens_of(out, "plan")} == {"front", "rear"}
    return results


@pytest.mark.parametrize("executor", EXECUTORS)
def test_each_response_comes_back_along_the_chain_of_its_request(
    tmp_path: Path, executor: str
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(TWO_CALLERS)
    done = run(app, tmp_path / "out", executor)
    assert done.returncode == 0, done.stderr
    results = check_chains(tmp_path / "out")
    kinds = {each["id"]: each["kind"] for each in results["callbacks"]}
    assert (kinds["plan"], kinds["way_rear"]) == ("service", "client")
    hops = {(hop["from"], hop["to"]): hop for hop in results["hops"]}
    assert {("ask_front", "plan"), ("plan", "way_front"), ("detail", "detailed")} <= set(hops)
    assert all(hop["time_ms"]["best"] > 0 for hop in hops.values())


@without_fork
@pytest.mark.parametrize("executor", ["preemptive", "wait_set"])
def test_callers_and_servers_may_be_in_different_processes(tmp_path: Path, executor: str) -> None:
    app = tmp_path / "app.yaml"
    nodes = next(line for line in TWO_CALLERS.splitlines(keepends=True) if "nodes:" in line)
    app.write_text(TWO_CALLERS.replace(nodes, PROCESSES))
    done = run(app, tmp_path / "out", executor)
    assert done.returncode == 0, done.stderr
    results = check_chains(tmp_path / "out")
    hops = {(hop["from"], hop["to"]): hop for hop in results["hops"]}
    assert hops["ask_front", "plan"]["between"] == "processes"
    assert hops["plan", "way_rear"]["between"] == "processes"


@contextmanager
def another_run(app: Path, out: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run that accepts other programs on its topics, and is stopped at the end."""
    command = [RUNNER, str(app), "--executor", "preemptive", "--seconds", "3600", "--out", str(out)]
    with subprocess.Popen([*command, "--not-alone"], stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(GENEROUS_S)


def test_a_service_that_somebody_else_has_is_refused(tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(TWO_CALLERS)
    with another_run(app, tmp_path / "other") as other:
        said = ""
        while "run in a domain of its own" not in said:  # until it sees the other one
            assert other.poll() is None
            done = run(app, tmp_path / "out", "preemptive")
            said = done.stderr
            if done.returncode == 0:
                shutil.rmtree(tmp_path / "out")
        assert "another process" in said
        assert not (tmp_path / "out").exists()
