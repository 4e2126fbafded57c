# SPDX-License-Identifier: Apache-2.0
"""`rclrt assign`: its answer holds when it is analysed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import Rclrt

APPLICATION = """
rclrt: 1
name: three
nodes: [{name: na}, {name: nb}, {name: nc}]
callbacks:
  - {id: a, node: na, timer: {period_ms: 10}, wcet_ms: 4}
  - {id: b, node: nb, timer: {period_ms: 20}, wcet_ms: 8}
  - {id: c, node: nc, timer: {period_ms: 40}, wcet_ms: 16}
chains:
  - {id: first, callbacks: [a], priority: 1}
  - {id: second, callbacks: [b], priority: 2}
  - {id: third, callbacks: [c], priority: 3}
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app.yaml"
    path.write_text(APPLICATION)
    return path


def assigned(rclrt: Rclrt, *arguments: object) -> tuple[int, Any]:
    answer = rclrt("assign", *arguments, "--json")
    return answer.code, answer.json


def test_two_cores_hold_what_one_cannot(app: Path, tmp_path: Path, rclrt: Rclrt) -> None:
    code, result = assigned(rclrt, app, "--cores", "1")
    assert code == 1  # U = 1.2
    assert result["feasible"] is False

    out = tmp_path / "new.yaml"
    code, result = assigned(rclrt, app, "--cores", "2", "-o", out)
    assert code == 0
    assert result["before"]["not_proved"] > result["after"]["not_proved"] == 0
    assert {tuple(executor["cpus"]) for executor in result["executors"]} == {(0,), (1,)}
    answer = rclrt("analyze", out, "--json")
    assert answer.code == 0
    analysed = answer.json
    assert [chain["verdict"] for chain in analysed["chains"]] == ["proved"] * 3
    assert [chain["bound_ms"] for chain in analysed["chains"]] == [
        chain["bound_ms"] for chain in result["chains"]
    ]
    assert analysed["callbacks"] == result["callbacks"]


def test_the_table_says_what_was_optimised_and_reached(app: Path, rclrt: Rclrt) -> None:
    answer = rclrt("assign", app, "--cpus", "5,7,9")
    assert answer.code == 0
    said = answer.out
    assert "core_5 on CPU 5: " in said
    assert "Optimised: the fewest chains without a proof" in said
    assert "0 and 0.4 after" in said


def test_a_task_set_gets_audsleys_order(tmp_path: Path, rclrt: Rclrt) -> None:
    tasks, out = tmp_path / "tasks.yaml", tmp_path / "new.yaml"
    tasks.write_text("""
rclrt: 1
tasks:
  - {id: "a \\u2028", c: 3, t: 20}
  - {id: b, c: 5, t: 20, d: 12, j: 6}
  - {id: c, c: 4, t: 40, d: 9}
""")
    assert rclrt("analyze", tasks).code == 1
    code, result = assigned(rclrt, tasks, "-o", out)
    assert code == 0
    assert result["optimal"] is True
    assert [task["priority"] for task in result["tasks"]] == [1, 3, 2]
    assert rclrt("analyze", out).code == 0
    answer = rclrt("assign", tasks)
    assert answer.code == 0
    assert "proved, by Audsley's algorithm" in answer.out


def test_an_impossible_task_set_is_said_to_be_so(tmp_path: Path, rclrt: Rclrt) -> None:
    tasks = tmp_path / "tasks.yaml"
    tasks.write_text("rclrt: 1\ntasks: [{id: a, c: 3, t: 5}, {id: b, c: 3, t: 5}]\n")
    answer = rclrt("assign", tasks)
    assert answer.code == 1
    assert "nor with any other priorities" in answer.out
    tasks.write_text("rclrt: 1\npolicy: edf\ntasks: [{id: a, c: 3, t: 5}]\n")
    answer = rclrt("assign", tasks)
    assert answer.code == 2
    assert "there are no priorities to assign" in answer.err


@pytest.mark.parametrize(
    "options",
    [
        ("--cores", "0"),
        ("--cores", "65"),
        ("--cores", "x"),
        ("--cpus", "1,1"),
        ("--cpus", ""),
        ("--cpus", "1;2"),
        ("--cpus", "99999"),
        ("--cores", "2", "--cpus", "1"),
        ("-o", "-", "--json"),
    ],
)
def test_wrong_options_are_explained(app: Path, rclrt: Rclrt, options: tuple[str, ...]) -> None:
    answer = rclrt("assign", app, *options)
    assert answer.code == 2
    assert "expected" in answer.err
