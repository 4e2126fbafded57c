# SPDX-License-Identifier: Apache-2.0
"""Rounds of several executors become one comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.comparisons.comparison import Comparison, merge_directory
from rclrt_py.errors import BadInput
from rclrt_py.testing.synthetic_run import write_run


def test_a_comparison_names_the_rounds_that_are_missing(tmp_path: Path) -> None:
    write_run(tmp_path / "wait_set" / "round-1", "wait_set", 1.0)
    write_run(tmp_path / "wait_set" / "round-2", "wait_set", 1.0)
    write_run(tmp_path / "preemptive" / "round-1", "preemptive", 1.0)
    found = merge_directory(tmp_path, ("wait_set", "preemptive"), 2, 2.0)
    assert [(missing.executor, missing.round) for missing in found.missing] == [("preemptive", 2)]
    assert [results.rounds for results in found.executors] == [2, 1]


def test_nothing_complete_is_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no round of any executor completed"):
        merge_directory(tmp_path, ("wait_set",), 1, 1.0)


def test_executors_that_ran_different_chains_are_not_compared(tmp_path: Path) -> None:
    write_run(tmp_path / "wait_set" / "round-1", "wait_set", 1.0)
    other = write_run(tmp_path / "preemptive" / "round-1", "preemptive", 1.0)
    document = json.loads((other / "results.json").read_text())
    document["chains"][0]["deadline_ms"] = 12.0
    (other / "results.json").write_text(json.dumps(document))
    with pytest.raises(BadInput, match="measured another application than"):
        merge_directory(tmp_path, ("wait_set", "preemptive"), 1, 1.0)


def test_a_folder_must_hold_the_executor_it_is_named_after(tmp_path: Path) -> None:
    write_run(tmp_path / "preemptive" / "round-1", "wait_set", 1.0)
    with pytest.raises(BadInput, match="executor is 'wait_set'; expected 'preemptive'"):
        merge_directory(tmp_path, ("preemptive",), 1, 1.0)


def test_the_synthetic_vehicle_shows_the_projects_claim(comparison: Comparison) -> None:
    def obstacle(name: str) -> Any:
        (found,) = (item for item in comparison.executors if item.executor == name)
        return found.chain("obstacle")

    assert obstacle("preemptive").missed == 0
    assert obstacle("wait_set").missed > 0
    assert obstacle("preemptive").response.p99 < obstacle("wait_set").response.p99
