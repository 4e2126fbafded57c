# SPDX-License-Identifier: Apache-2.0
"""A real LTTng session of a run with variables: its model has them, and its ages are the run's."""

from __future__ import annotations

import csv
import json
import os
import shutil
import statistics
from pathlib import Path

import pytest
from rclrt_py.testing.command import command
from traced_runs import rclrt

import rclrt_model

AGREEMENT_NS = 100_000
APP = """\
rclrt: 1
name: sampling
nodes: [{name: camera}, {name: planner}, {name: motor}]
callbacks:
  - {id: image, node: camera, timer: {period_ms: 20}, wcet_ms: 0.5, publishes: [images]}
  - {id: see, node: planner, subscription: {topic: images}, wcet_ms: 0.1, stores: [seen]}
  - {id: plan, node: planner, timer: {period_ms: 30, offset_ms: 7}, wcet_ms: 0.5, reads: [seen],
     publishes: [path]}
  - {id: idle, node: planner, timer: {period_ms: 50}, wcet_ms: 0.1, publishes: [alive]}
  - {id: hear, node: motor, subscription: {topic: alive}, wcet_ms: 0.1}
  - {id: drive, node: motor, subscription: {topic: path}, wcet_ms: 0.1}
chains:
  - {id: eye_to_wheel, callbacks: [image, see, plan, drive], priority: 2, max_age_ms: 100}
  - {id: alive, callbacks: [idle, hear], priority: 1, deadline_ms: 50}
"""


def ages(results: Path) -> list[tuple[int, int]]:
    """Returns when each output ended (CLOCK_MONOTONIC), and the age of its data."""
    zero = json.loads((results / "results.json").read_text())["t0_monotonic_ns"]
    with (results / "outputs.csv").open() as rows:
        return [(int(row["end_ns"]) + zero, int(row["age_ns"])) for row in csv.DictReader(rows)]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the directory with app.yaml, the trace and the results of the run."""
    if shutil.which("lttng-sessiond") is None:
        if "CI" in os.environ:
            pytest.fail("there is no lttng-sessiond (Debian: lttng-tools)")
        pytest.skip("there is no lttng-sessiond (Debian: lttng-tools)")
    home = tmp_path_factory.mktemp("sampled")
    (home / "app.yaml").write_text(APP)
    run = ("run", home / "app.yaml", "--executor", "preemptive", "--seconds", "3")
    line = command(*run, "--out", home / "run")
    done = rclrt("trace", "record", "-o", home / "trace", "--", *line)
    assert done.returncode == 0, done.stdout + done.stderr
    return home


def test_the_model_has_the_variables_of_the_run(session: Path) -> None:
    done = rclrt("model", session / "trace", "-o", session / "robot.yaml")
    assert done.returncode == 0, done.stderr
    model = rclrt_model.load(session / "robot.yaml")
    callbacks = {each.id: each for each in model.callbacks}
    assert list(callbacks["see"].stores) == ["see"]
    assert list(callbacks["plan"].reads) == ["see"]
    assert not any(each.reads for id_, each in callbacks.items() if id_ != "plan")
    (chain,) = model.cause_effect_chains
    assert [model.callbacks[each].id for each in chain.callbacks] == [
        "image", "see", "plan", "drive"
    ]  # fmt: skip
    assert "may publish" not in done.stderr
    assert "does not show whether" not in (session / "robot.yaml").read_text()


def test_the_ages_of_the_trace_are_those_of_the_run(session: Path) -> None:
    imported = session / "imported"
    done = rclrt("trace", "import", session / "trace", "--out", imported)
    assert done.returncode == 0, done.stderr
    own, of_trace = ages(session / "run"), ages(imported)
    # The runner leaves out what is not within its window.
    assert 50 <= len(own) <= len(of_trace) <= len(own) + 20
    differences = []
    for end, age in own:
        _, theirs = min(of_trace, key=lambda output: abs(output[0] - end))
        differences.append(abs(theirs - age))
    assert statistics.median(differences) <= AGREEMENT_NS
