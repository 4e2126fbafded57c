# SPDX-License-Identifier: Apache-2.0
"""The lines that explain why deadlines were missed."""

import json
from pathlib import Path
from typing import Any

from rclrt_py.report.miss_lines import miss_lines
from rclrt_py.runs.run_data import RESULTS


def lines(directory: Path, results: dict[str, Any]) -> list[str]:
    (directory / RESULTS).write_text(json.dumps(results))
    return list(miss_lines(directory))


def miss(chain: str, response_ms: float | None, text: str) -> dict[str, Any]:
    return {"chain": chain, "response_ms": response_ms, "text": text}


def test_the_worst_miss_of_each_chain_is_a_line(tmp_path: Path) -> None:
    misses = [miss("a", 5, "a5"), miss("a", 9, "a9"), miss("a", 7, "a7"), miss("b", 1, "b1")]
    assert lines(tmp_path, {"misses": misses}) == ["a9", "b1"]


def test_one_that_never_ended_is_worse_than_any(tmp_path: Path) -> None:
    assert lines(tmp_path, {"misses": [miss("a", None, "lost"), miss("a", 9, "a9")]}) == ["lost"]


def test_results_without_misses_have_no_lines(tmp_path: Path) -> None:
    assert lines(tmp_path, {}) == []
    assert lines(tmp_path, {"misses": []}) == []
