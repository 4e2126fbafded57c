# SPDX-License-Identifier: Apache-2.0
"""Callbacks that read the newest message of a topic: a real take from a real subscription."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import rows, run, without_fork

APP = """\
rclrt: 1
name: newest
executors: [{{name: first}}, {{name: second{process}}}]
nodes: [{{name: sensor, executor: first}}, {{name: motor, executor: second}}]
callbacks:
  - {{id: scan, node: sensor, timer: {{period_ms: {scan_ms}}}, wcet_ms: 0.2, publishes: [points]}}
  - {{id: steer, node: motor, timer: {{period_ms: {steer_ms}, offset_ms: 3}}, wcet_ms: 0.2,
     reads: [{{topic: points}}], publishes: [go]}}
  - {{id: drive, node: motor, subscription: {{topic: go}}, wcet_ms: 0.1}}
chains:
  - {{id: path, callbacks: [scan, steer, drive], priority: 1, max_age_ms: 500}}
"""


def outputs(directory: Path, process: str, scan_ms: int, steer_ms: int, executor: str) -> Path:
    path = directory / "app.yaml"
    path.write_text(APP.format(process=process, scan_ms=scan_ms, steer_ms=steer_ms))
    done = run(path, directory / "out", executor)
    assert done.returncode == 0, done.stderr
    results = json.loads((directory / "out" / "results.json").read_text())
    assert results["context"]["foreign_messages"] == 0
    return directory / "out"


def check(out: Path) -> list[int]:
    """Checks that each output has data that were published before it; returns their releases."""
    used = [int(row["release_ns"]) for row in rows(out / "outputs.csv")]
    drives = [row for row in rows(out / "instances.csv") if row["callback"] == "drive"]
    # Only the first ones may come before a message: it has a whole period less 3 ms of time.
    assert len(drives) - 10 <= len(used) <= len(drives)
    assert used == sorted(used)  # a message is never followed by an older one
    for row in rows(out / "outputs.csv"):
        assert int(row["release_ns"]) < int(row["end_ns"])
    return used


@pytest.mark.parametrize("executor", ["preemptive", "wait_set", "events"])
def test_a_slow_message_is_used_several_times(tmp_path: Path, executor: str) -> None:
    used = check(outputs(tmp_path, "", 100, 20, executor))
    assert len(set(used)) < len(used)
    assert len(set(used)) > 1


def test_of_fast_messages_only_the_newest_ones_are_used(tmp_path: Path) -> None:
    out = outputs(tmp_path, "", 5, 50, "preemptive")
    used = check(out)
    scans = [row for row in rows(out / "instances.csv") if row["callback"] == "scan"]
    assert len(set(used)) < len(scans) / 2


@without_fork
def test_the_publisher_may_be_in_another_process(tmp_path: Path) -> None:
    assert check(outputs(tmp_path, ", process: apart", 20, 20, "preemptive"))


def test_a_variable_and_a_topic_are_read_in_one_run(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    text = APP.format(process="", scan_ms=20, steer_ms=20)
    # The reader is made after the callback that stores, and ends after it.
    text = text.replace("publishes: [points]}", "publishes: [points], stores: [seen]}")
    text = text.replace("reads: [{topic: points}]", "reads: [seen, {topic: points}]")
    path.write_text(text)
    done = run(path, tmp_path / "out", "preemptive")
    assert done.returncode == 0, done.stderr
    assert check(tmp_path / "out")
