# SPDX-License-Identifier: Apache-2.0
"""A command never replaces a file that it reads: the output is refused, with exit code 2."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rclrt_py.testing.command import Rclrt
from rclrt_py.testing.workspace import Workspace

APP = """\
rclrt: 1
name: one
nodes: [{name: n}]
callbacks: [{id: t, node: n, timer: {period_ms: 10}, wcet_ms: 1}]
chains: [{id: c, callbacks: [t], priority: 1, deadline_ms: 10}]
"""


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An application in the current directory, with two other names for it."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "app.yaml"
    path.write_text(APP)
    os.link(path, tmp_path / "hard.yaml")
    (tmp_path / "soft.yaml").symlink_to("app.yaml")
    (tmp_path / "more.yaml").write_text("kept")
    return path


@pytest.mark.parametrize("name", ["app.yaml", "./app.yaml", "hard.yaml", "soft.yaml"])
@pytest.mark.parametrize(
    "command",
    [
        "synthesize app.yaml -o",
        "analyze app.yaml --counter-example",
        "assign app.yaml -o",
        "assign app.yaml --robot",
        "plan app.yaml --no-browser --robot-out",
        "plan app.yaml --no-browser --priorities-out",
    ],
)
def test_the_application_is_not_replaced(app: Path, rclrt: Rclrt, command: str, name: str) -> None:
    answer = rclrt(*command.split(), name)
    option = command.split()[-1]
    assert answer.code == 2
    assert (
        f"{option} {Path(name)}: would replace app.yaml, which this command reads; name another "
        "file" in answer.err
    )
    assert app.read_text() == APP
    assert (app.parent / "soft.yaml").is_symlink()


@pytest.mark.parametrize(
    "command",
    [
        "synthesize app.yaml --overheads more.yaml -o",
        "analyze app.yaml --priorities more.yaml --counter-example",
        "analyze app.yaml --overheads more.yaml --counter-example",
        "assign app.yaml --priorities more.yaml -o",
        "plan app.yaml --no-browser --overheads more.yaml --out",
        "report results --application more.yaml -o",
        "calibrate --peer there=127.0.0.1:1 --token-file more.yaml -o",
    ],
)
def test_other_inputs_are_not_replaced(app: Path, rclrt: Rclrt, command: str) -> None:
    answer = rclrt(*command.split(), "more.yaml")
    assert answer.code == 2
    assert "more.yaml: would replace more.yaml, which this command reads" in answer.err
    assert (app.parent / "more.yaml").read_text() == "kept"


def test_another_file_may_be_replaced(app: Path, rclrt: Rclrt) -> None:
    answer = rclrt("synthesize", "app.yaml", "-o", "more.yaml")
    assert answer.code == 0, answer.err
    assert "priorities:" in (app.parent / "more.yaml").read_text()


def test_a_report_replaces_no_file_of_its_results(
    workspace: Workspace, rclrt: Rclrt, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in workspace.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(workspace.root)
    run = ("run", "app.yaml", "--executor", "preemptive", "--seconds", "1", "--out", "out")
    assert rclrt(*run).code == 0
    before = {path: path.read_bytes() for path in workspace.out.rglob("*") if path.is_file()}
    assert len(before) > 2
    for path in before:
        answer = rclrt("report", "out", "-o", path)
        if path.suffix == ".html":
            assert answer.code == 0, answer.err
        else:
            assert answer.code == 2
            assert "would replace a file of out, which this command reads" in answer.err
    pages = {path for path in before if path.suffix == ".html"}
    for path in before.keys() - pages:
        assert path.read_bytes() == before[path]


@pytest.mark.parametrize("name", ["application.json", "preemptive/round-1/app.yaml"])
def test_a_run_removes_no_input_with_earlier_results(
    workspace: Workspace, rclrt: Rclrt, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for key, value in workspace.environment().items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(workspace.root)
    run = ("--executor", "preemptive", "--seconds", "1", "--out", "out")
    assert rclrt("run", "app.yaml", *run).code == 0
    inside = workspace.out / name
    inside.parent.mkdir(parents=True, exist_ok=True)
    text = (workspace.root / "app.yaml").read_text()
    inside.write_text(text)
    before = sorted(path.name for path in workspace.out.iterdir())
    answer = rclrt("run", inside, *run)
    assert answer.code == 2
    assert f"--out out: would replace {inside}, which this command reads; name" in answer.err
    assert inside.read_text() == text
    assert sorted(path.name for path in workspace.out.iterdir()) == before
    mine = workspace.out / "mine.yaml"
    mine.write_text(text)
    assert rclrt("run", mine, *run).code == 0
    assert mine.read_text() == text
