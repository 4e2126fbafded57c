# SPDX-License-Identifier: Apache-2.0
"""A condition that the file itself contradicts is never "feasible: yes"."""

from __future__ import annotations

from pathlib import Path

import pytest
from rclrt_py.executors import EXECUTORS, WITH_LEVELS
from rclrt_py.native import analysis
from rclrt_py.testing.command import finished
from sources import ROOT

APPLICATION = """
rclrt: 1
name: pairs
executors: [{{name: main, cpus: {cpus}}}{more}]
nodes: [{{name: n, executor: main}}]
callbacks:
  - {{id: grasp, node: n, timer: {{period_ms: 40, offset_ms: 0.01}}, wcet_ms: 0.2, publishes: [go],
     group: left, priority: 7}}
  - {{id: hold, node: n, subscription: {{topic: go}}, wcet_ms: 0.2, group: right, priority: 7}}
  - {{id: tidy, node: n, timer: {{period_ms: 40, offset_ms: 0}}, wcet_ms: 7, group: left}}
  - {{id: sort, node: n, timer: {{period_ms: 40, offset_ms: 7.1}}, wcet_ms: 7, group: right}}
chains: [{{id: grasp, callbacks: [grasp, hold], priority: 7, deadline_ms: 20}}]
"""


def analyzed(
    path: Path, executor: str, cpus: str, more: str = "", *options: str
) -> tuple[int, str]:
    app = path / "app.yaml"
    text = APPLICATION.format(cpus=cpus, more=more)
    app.write_text(text.replace(", cpus: []", ""))
    done = finished("analyze", str(app), "--executor", executor, *options)
    return done.returncode, done.stdout


@pytest.mark.parametrize("executor", WITH_LEVELS)
def test_an_executor_that_states_two_cpus_has_the_bound_of_two(
    executor: str, tmp_path: Path
) -> None:
    code, said = analyzed(tmp_path, executor, "[0]")
    assert (code, "feasible: yes" in said) == (0, True), said
    code, said = analyzed(tmp_path, executor, "[0, 1]")
    assert (code, "feasible: yes" in said) == (0, True), said
    assert "14.4" in said, said  # tidy delays grasp, and sort delays hold
    assert "runs on one CPU" not in said


@pytest.mark.parametrize("executor", EXECUTORS)
def test_an_executor_that_states_no_cpus_is_proved_on_any_number(
    executor: str, tmp_path: Path
) -> None:
    code, said = analyzed(tmp_path, executor, "[]", "", "--dispatch-us", "0")
    assert (code, "feasible: yes" in said) == (0, True), said
    assert "proved" in said
    assert "runs on one CPU" not in said


def test_a_cpu_that_another_executor_states_among_others_is_shared(tmp_path: Path) -> None:
    more = ", {{name: rest, cpus: [2, 0]}}".replace("{{", "{").replace("}}", "}")
    code, said = analyzed(tmp_path, "picas", "[0]", more)
    assert (code, "feasible: yes" in said) == (0, True), said
    assert "global: on several CPUs" in said
    code, said = analyzed(tmp_path, "picas", "[0]", more.replace("[2, 0]", "[2, 1]"))
    assert (code, "feasible: yes" in said) == (0, True), said
    code, said = analyzed(tmp_path, "preemptive", "[0]", more)
    assert (code, "feasible: yes" in said) == (0, True), said


def test_the_reference_has_every_assumption() -> None:
    module = analysis()
    page = (ROOT / "docs" / "reference" / "verdicts.md").read_text(encoding="utf-8")
    found = {
        assumption.id
        for executor in EXECUTORS
        for overheads in (module.Overheads(), module.Overheads(dispatch_ns=1, far_hop_ns=(0, 1)))
        for assumption in module.chain_assumptions(executor, overheads)
    }
    assert len(found) > 8
    assert {identifier for identifier in found if f"`{identifier}`" not in page} == set()
