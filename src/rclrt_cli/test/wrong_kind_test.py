# SPDX-License-Identifier: Apache-2.0
"""A file of the wrong kind: one line with its kind, the command that takes it, and what was
expected. Exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from measured_overheads import MEASURED
from rclrt_py.testing.command import Rclrt

pytest.importorskip("rclrt_analysis")

FILES = {
    "app.yaml": """\
rclrt: 1
name: one
nodes: [{name: n}]
callbacks: [{id: t, node: n, timer: {period_ms: 10}, wcet_ms: 1}]
chains: [{id: c, callbacks: [t], priority: 1, deadline_ms: 10}]
""",
    "robot.yaml": "rclrt: 1\nexecutor: {kind: preemptive}\nmonitor: {period_ms: 100}\n",
    "overheads.json": json.dumps(MEASURED),
    "late.yaml": """\
rclrt: 1
application: one
executor: preemptive
chain: c
instance: 0
release_ms: 0
response_ms: 11
horizon_ms: 20
seed: 1
execution_from_percent: 100
cpus: 1
offsets_ms: {t: 0}
""",
    "results.json": '{"rclrt_results": 1, "chains": [], "callbacks": []}',
    "tasks.yaml": "rclrt: 1\ntasks: [{id: a, c: 1, t: 7}]\n",
    "rules.json": '{"name": "small", "chain_count": 3}',
    "experiment.yaml": "rclrt: 1\nkind: experiment\nname: load\nexecutors: [preemptive]\n",
    "priorities.yaml": "rclrt: 1\napplication: one\npriorities: {t: 3}\n",
}
FOUND = {
    "app.yaml": "an app.yaml, which describes an application, for `rclrt analyze FILE`",
    "robot.yaml": "a robot.yaml, which configures a process of rclcpp nodes, for the parameter "
    "'robot' of rclrt_component_container",
    "overheads.json": "a file of overheads, which a machine has, for `rclrt analyze app.yaml "
    "--overheads FILE`",
    "late.yaml": "a counter-example, a schedule of an application, for `rclrt simulate app.yaml "
    "--replay FILE`",
    "results.json": "the results of a run, for `rclrt report DIR` with its directory",
    "tasks.yaml": "a task set, for `rclrt analyze FILE`",
    "rules.json": "a file of rules for generated applications, for `rclrt generate FILE`",
    "experiment.yaml": "an experiment, for `rclrt experiment FILE`",
    "priorities.yaml": "a priorities file, which is for one application, for `rclrt analyze "
    "app.yaml --priorities FILE`",
}
NO_APPLICATION = ("robot.yaml", "overheads.json", "late.yaml", "results.json", "rules.json")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file in the current directory."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)


def check(rclrt: Rclrt, command: str, name: str, expected: str) -> None:
    answer = rclrt(*command.replace("FILE", name).split())
    assert answer.code == 2
    line = answer.err.removeprefix("rclrt: ")
    assert line.startswith(f"{name}:1:1: this is {FOUND[name]}; expected {expected}"), answer.err
    assert line.count("\n") == 1


@pytest.mark.parametrize("name", [*NO_APPLICATION, "experiment.yaml", "priorities.yaml"])
@pytest.mark.parametrize(
    "command",
    ["analyze FILE", "synthesize FILE", "assign FILE", "plan FILE --no-browser"],
)
def test_where_an_application_is_expected(rclrt: Rclrt, command: str, name: str) -> None:
    check(rclrt, command, name, "an app.yaml with 'nodes', 'callbacks' and 'chains'")


@pytest.mark.parametrize("name", ["app.yaml", "robot.yaml", "late.yaml", "results.json"])
def test_where_overheads_are_expected(rclrt: Rclrt, name: str) -> None:
    command = "analyze app.yaml --overheads FILE"
    check(rclrt, command, name, "a file of overheads: `rclrt calibrate -o overheads.json` writes")


@pytest.mark.parametrize("name", ["app.yaml", "robot.yaml", "overheads.json", "tasks.yaml"])
def test_where_a_counter_example_is_expected(rclrt: Rclrt, name: str) -> None:
    command = "simulate app.yaml --out out --replay FILE"
    check(rclrt, command, name, "a counter-example: `rclrt analyze app.yaml --counter-example")


@pytest.mark.parametrize("name", ["app.yaml", "late.yaml", "overheads.json"])
def test_where_a_counter_example_of_a_task_set_is_expected(rclrt: Rclrt, name: str) -> None:
    command = "simulate tasks.yaml --replay FILE"
    check(rclrt, command, name, "a counter-example of the task set: `rclrt analyze tasks.yaml")


@pytest.mark.parametrize("name", ["app.yaml", "overheads.json", "rules.json"])
def test_where_priorities_are_expected(rclrt: Rclrt, name: str) -> None:
    command = "analyze app.yaml --priorities FILE"
    check(rclrt, command, name, "a priorities file: `rclrt synthesize app.yaml -o priorities.yaml`")


@pytest.mark.parametrize("name", ["app.yaml", "robot.yaml", "experiment.yaml"])
def test_where_rules_are_expected(rclrt: Rclrt, name: str) -> None:
    pytest.importorskip("rclrt_experiments")
    check(rclrt, "generate FILE", name, 'a file of rules, such as {"chain_count": 3}')


@pytest.mark.parametrize("name", ["app.yaml", "rules.json"])
def test_where_an_experiment_is_expected(rclrt: Rclrt, name: str) -> None:
    pytest.importorskip("rclrt_experiments")
    check(rclrt, "experiment FILE --out out", name, "an experiment, with kind: experiment")


@pytest.mark.parametrize("name", ["app.yaml", "results.json"])
def test_where_a_directory_of_results_is_expected(rclrt: Rclrt, name: str) -> None:
    answer = rclrt("report", name)
    assert answer.code == 2
    assert f"{name}: is not a directory but {FOUND[name]}; expected one that" in answer.err
