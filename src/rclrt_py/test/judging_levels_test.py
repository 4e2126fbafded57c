# SPDX-License-Identifier: Apache-2.0
"""The priorities at which a judge takes callbacks to have run."""

from __future__ import annotations

from pathlib import Path

import pytest
from rclrt_py.bounds.judging import Judge
from rclrt_py.native import load_application

GROUP = """
rclrt: 1
name: grouped
nodes: [{name: node}]
callbacks:
  - {id: urgent, node: node, timer: {period_ms: 100}, wcet_ms: 1, priority: 9, group: g}
  - {id: long, node: node, timer: {period_ms: 100}, wcet_ms: 8, priority: 1, group: g}
  - {id: other, node: node, timer: {period_ms: 100}, wcet_ms: 1, priority: 5}
chains: [{id: only, callbacks: [urgent], deadline_ms: 50, priority: 1}]
"""


@pytest.mark.parametrize(
    ("executor", "levels"),
    [
        ("per_group", {"urgent": 9, "long": 9, "other": 5}),
        ("preemptive", {"urgent": 9, "long": 1, "other": 5}),
    ],
)
def test_what_is_in_the_way_is_told_by_the_priorities_of_threads(
    executor: str, levels: dict[str, int], tmp_path: Path
) -> None:
    pytest.importorskip("rclrt_analysis")
    app = tmp_path / "app.yaml"
    app.write_text(GROUP)
    assert Judge.of(load_application(app), executor, None).context.levels == levels
