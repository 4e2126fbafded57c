# SPDX-License-Identifier: Apache-2.0
"""Events come from threads outside of the executors, on real ROS 2."""

from __future__ import annotations

import csv
import json
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.executors import EXECUTORS
from running import GENEROUS_S, RUNNER

APPLICATION = """\
rclrt: 1
name: events
nodes: [{name: base}]
callbacks:
  - {id: bumper, node: base, event: {min_interval_ms: 20, max_interval_ms: 60}, wcet_ms: 0.5,
     publishes: [hit]}
  - {id: stop, node: base, subscription: {topic: hit}, wcet_ms: 0.5}
  - {id: plan, node: base, timer: {period_ms: 50}, wcet_ms: 5}
chains:
  - {id: contact, callbacks: [bumper, stop], priority: 2, deadline_ms: 20}
  - {id: plan, callbacks: [plan], priority: 1}
"""


def run(app: Path, out: Path, executor: str) -> dict[str, Any]:
    done = subprocess.run(
        [RUNNER, app, "--executor", executor, "--seconds", "0.6", "--out", out],
        capture_output=True, text=True, timeout=GENEROUS_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads((out / "results.json").read_text())
    return results


def releases(out: Path) -> dict[int, int]:
    """The release of each instance of the chain, since the epoch."""
    with (out / "chains.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["chain"] == "contact"]
    return {int(row["instance"]): int(row["release_ns"]) for row in rows}


@pytest.mark.parametrize("executor", EXECUTORS)
def test_every_event_is_an_instance_of_its_chain(tmp_path: Path, executor: str) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(APPLICATION)
    results = run(app, tmp_path / "out", executor)
    contact = next(chain for chain in results["chains"] if chain["id"] == "contact")
    # By FNV-1a and SplitMix64 in another language, 14 releases are in the first 0.6 s.
    assert contact["released"] == 14
    assert contact["released"] == sum(contact[key] for key in ("completed", "dropped", "pending"))
    assert contact["completed"] > 0
    assert contact["response_ms"]["best"] >= 0.5 + 0.5
    bumper = next(each for each in results["callbacks"] if each["id"] == "bumper")
    assert bumper["kind"] == "event"
    times = releases(tmp_path / "out")
    for (one, at), (other, then) in pairwise(sorted(times.items())):
        assert (other - one) * 20e6 <= then - at <= (other - one) * 60e6
    if results["context"]["realtime"]:
        thread = next(each for each in results["threads"] if each["name"] == "event bumper")
        assert (thread["policy"], thread["priority"]) == ("fifo", 97)
