# SPDX-License-Identifier: Apache-2.0
"""`rclrt analyze --sensitivity`, on numbers that can be checked by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rclrt_cli.tables.sensitivity import table
from rclrt_py.analyses.sensitivity import MarginResult, SensitivityResult
from rclrt_py.testing.command import Rclrt

APPLICATION = """
rclrt: 1
name: two
executors: [{name: main, cpus: [0]}]
nodes: [{name: n}]
callbacks:
  - {id: a, node: n, timer: {period_ms: 10}, wcet_ms: 2}
  - {id: b, node: n, timer: {period_ms: 20}, wcet_ms: 6}
  - {id: idle, node: n, timer: {period_ms: 20}, wcet_ms: 0}
chains:
  - {id: first, callbacks: [a], priority: 2, deadline_ms: 5}
  - {id: second, callbacks: [b], priority: 1}
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app.yaml"
    path.write_text(APPLICATION)
    return path


def found(rclrt: Rclrt, *arguments: object) -> Any:
    return rclrt("analyze", *arguments, "--sensitivity", "--json").json["sensitivity"]


def test_each_time_has_its_limit(app: Path, rclrt: Rclrt) -> None:
    result = found(rclrt, app)
    assert result["factor"] == 2.0
    assert result["wcets"][0] == {
        "id": "a",
        "stated": 2.0,
        "limit": 5.0,
        "factor": 2.5,
        "unlimited": False,
        "conditional": True,  # the overheads of the machine are not known
    }
    assert result["wcets"][1]["limit"] == 16.0
    assert result["wcets"][2]["unlimited"] is True
    assert result["periods"][0]["limit"] == 2.857143
    assert result["monotone"] is True


def test_the_table_names_the_tightest_first(app: Path, rclrt: Rclrt) -> None:
    answer = rclrt("analyze", app, "--sensitivity")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert "All execution times together: factor 2. One alone (ms):" in lines
    at = next(i for i, line in enumerate(lines) if "execution time, at most" in line)
    assert lines[at + 1].split() == ["a", "2", "5", "factor", "2.5"]
    assert lines[at + 3].split() == ["idle", "0", "any"]


def test_the_table_warns_of_values_that_do_not_agree_with_a_single_limit() -> None:
    result: SensitivityResult = {
        "factor": 2.0,
        "factor_conditional": False,
        "unit": "ms",
        "wcets": [],
        "periods": [],
        "monotone": True,
    }
    assert "Check your value with rclrt analyze." not in "\n".join(table(result))
    result["monotone"] = False
    assert list(table(result))[-1] == (
        "Not monotone: some value within a limit is not proved, or some value beyond it is. "
        "Check your value with rclrt analyze."
    )


def test_limits_that_hold_only_under_a_condition_are_marked(app: Path, rclrt: Rclrt) -> None:
    unmeasured = rclrt("analyze", app, "--sensitivity").out.splitlines()
    assert unmeasured[-1] == (
        "Every limit is conditional: with it, deadlines hold only under the conditions of rclrt "
        "analyze."
    )
    assert not any(line.endswith("  conditional") for line in unmeasured[-8:])
    proved = rclrt("analyze", app, "--sensitivity", "--dispatch-us", "0").out
    assert "onditional" not in proved


def test_a_single_limit_that_is_conditional_is_marked_in_its_row() -> None:
    row: MarginResult = {
        "id": "a",
        "stated": 2.0,
        "limit": 5.0,
        "factor": 2.5,
        "unlimited": False,
        "conditional": True,
    }
    result: SensitivityResult = {
        "factor": 2.0,
        "factor_conditional": False,
        "unit": "ms",
        "wcets": [row],
        "periods": [{**row, "id": "b", "conditional": False}],
        "monotone": True,
    }
    lines = list(table(result))
    assert [line.split()[-1] for line in lines if " factor 2.5" in line] == ["conditional", "2.5"]
    assert lines[-1] == (
        "conditional: with this value, a deadline holds only under a condition. rclrt analyze "
        "names it."
    )


def test_a_task_set_is_in_its_own_units(tmp_path: Path, rclrt: Rclrt) -> None:
    # Burns and Wellings' set with a tenth of a unit to spare: 5 + 3 * 3 + 2 * 3 = 20.
    file = tmp_path / "tasks.yaml"
    file.write_text("""
rclrt: 1
tasks: [{id: a, c: 3, t: 7}, {id: b, c: 3, t: 12}, {id: c, c: 4.9, t: 20}]
""")
    result = found(rclrt, str(file))
    assert result["wcets"][2]["limit"] == 5
    assert result["periods"][0]["limit"] == 6.7  # the first with 3 releases in 19.9
    assert result["unit"] == "units"


def test_it_is_of_the_sound_bounds(app: Path, rclrt: Rclrt) -> None:
    answer = rclrt("analyze", app, "--sensitivity", "--test", "thesis")
    assert answer.code == 2
    assert "--sensitivity: works only with --test sound" in answer.err


def test_a_deadline_that_no_factor_proves_is_said_in_words(tmp_path: Path, rclrt: Rclrt) -> None:
    """A task may be blocked for longer than its period: short execution times do not help."""
    file = tmp_path / "tasks.yaml"
    file.write_text("rclrt: 1\ntasks: [{id: a, c: 1, t: 7, b: 9}, {id: b, c: 0, t: 12}]\n")
    answer = rclrt("analyze", file, "--sensitivity")
    assert "All execution times together: no factor is enough. One alone (units):" in answer.out
