# SPDX-License-Identifier: Apache-2.0
"""Wrong command lines: a message with the fix, exit code 2, and nothing written."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from rclrt_cli.main import main
from rclrt_py.testing.workspace import Workspace

PACKAGE_XML = Path(__file__).resolve().parents[1] / "package.xml"


@pytest.fixture
def ready(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Enters the workspace's environment in this process."""
    for name, value in workspace.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(workspace.root)
    return workspace


def exit_code(*arguments: str) -> int | str | None:
    """Returns the exit code, also if argparse ends the process."""
    try:
        return main(arguments)
    except SystemExit as error:
        return error.code


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compair"], "unknown command 'compair'; did you mean 'compare'?"),
        (
            ["frobnicate"],
            "run, agent, compare, simulate, report, doctor, top, bench, calibrate, analyze,",
        ),
        (["compare", "absent.yaml", "--out", "out"], "absent.yaml: no such file; expected an app"),
        (["compare", ".", "--out", "out"], ".: is not a file; expected an app.yaml"),
        (
            ["compare", "app.yaml", "--out", "out", "--executors", "wait_set,preemtive"],
            "unknown executor 'preemtive'; did you mean 'preemptive'?",
        ),
        (
            ["compare", "app.yaml", "--out", "out", "--executors", "wait_set,wait_set"],
            "executor 'wait_set' is listed more than once",
        ),
        (["compare", "app.yaml", "--out", "out", "--executors", ""], "unknown executor ''"),
        (
            ["run", "app.yaml", "--out", "out", "--executor", "waitset"],
            "unknown executor 'waitset'; did you mean 'wait_set'?",
        ),
        (["compare", "app.yaml", "--out", "out", "--seconds", "ten"], "'ten' is not a time"),
        (["compare", "app.yaml", "--out", "out", "--seconds", "0"], "'0' is not a time"),
        (["compare", "app.yaml", "--out", "out", "--seconds", "-3"], "'-3' is not a time"),
        (["compare", "app.yaml", "--out", "out", "--seconds", "nan"], "'nan' is not a time"),
        (["compare", "app.yaml", "--out", "out", "--seconds", "inf"], "'inf' is not a time"),
        (
            ["compare", "app.yaml", "--out", "out", "--seconds", "0.05", "--rounds", "10"],
            "each run would last 0.005 s; expected at least 0.01 s",
        ),
        (
            ["run", "app.yaml", "--out", "out", "--executor", "preemptive", "--seconds", "1e-9"],
            "each run would last 1e-09 s",
        ),
        (["compare", "app.yaml", "--out", "out", "--rounds", "0"], "'0' is not a number of rounds"),
        (["compare", "app.yaml", "--out", "out", "--rounds", "1.5"], "'1.5' is not a number of"),
        (["compare", "app.yaml"], "the following arguments are required: --out"),
        (["compare", "app.yaml", "--out", "app.yaml/out"], "--out app.yaml/out: cannot be made"),
        (["compare", "app.yaml", "--out", "app.yaml"], "--out app.yaml: is a file; expected"),
        (["compare", "app.yaml", "--out", "/proc/rclrt"], "--out /proc/rclrt: cannot be made"),
        (["robot"], "required: ACTION\n  expected one of: init, import\n"),
        (["workloads"], "required: ACTION\n  expected one of: list,"),
        (
            ["synthesize", "app.yaml", "-o", "absent/p.yaml"],
            "-o absent/p.yaml: absent is no directory; make it first",
        ),
        (
            ["analyze", "app.yaml", "--counter-example", "absent/late.yaml"],
            "--counter-example absent/late.yaml: absent is no directory; make it first",
        ),
        (["report", "absent"], "absent: no such directory"),
        (["report", "app.yaml"], "app.yaml: is not a directory"),
        (["report", "state"], "state: has no results.json; expected a directory of rclrt run"),
        (["report", "state", "--", "-r", "a:=b"], "report takes no arguments after --"),
    ],
)
def test_a_wrong_command_line_is_explained(
    ready: Workspace, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    before = sorted(path.name for path in ready.root.iterdir())
    assert exit_code(*arguments) == 2
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in ready.root.iterdir()) == before
    assert ready.calls() == []


def test_without_a_workspace_the_fix_is_named(
    ready: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AMENT_PREFIX_PATH")
    assert exit_code("compare", "app.yaml", "--out", "out") == 2
    assert "AMENT_PREFIX_PATH is not set)\n  fix: start through ./rclrt, or source" in (
        capsys.readouterr().err
    )
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/nowhere:/there")
    assert exit_code("compare", "app.yaml", "--out", "out") == 2
    error = capsys.readouterr().err
    assert "not in /nowhere, /there" in error
    assert "build PACKAGES=rclrt_runner" in error or "--packages-up-to rclrt_runner" in error


def test_an_unknown_chain_to_fail_on_is_refused_with_the_known_ones(
    ready: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    code = exit_code(
        *("run", "app.yaml", "--executor", "preemptive", "--seconds", "1", "--out", "out"),
        *("--fail-on-miss", "obstacel"),
    )
    assert code == 2
    error = capsys.readouterr().err
    assert "unknown chain 'obstacel'; did you mean 'obstacle'?" in error
    assert "the application has: obstacle, planning, mapping" in error


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ('"rclrt_comparison": 1', '"rclrt_comparison": 2', "expected format version 1"),
        ('"rounds": 2', '"rounds": 1000000000', "1000000000 rounds; expected 1 to 1000"),
        ('"rounds": 2', '"rounds": 0', "0 rounds; expected 1 to 1000"),
    ],
)
def test_a_comparison_with_an_impossible_value_is_refused(
    ready: Workspace,
    capsys: pytest.CaptureFixture[str],
    right: str,
    wrong: str,
    message: str,
) -> None:
    out = str(ready.out)
    command = ("compare", "app.yaml", "--executors", "preemptive", "--seconds", "1", "--out", out)
    assert exit_code(*command) == 0
    path = ready.out / "results.json"
    assert right in path.read_text()
    path.write_text(path.read_text().replace(right, wrong, 1))
    capsys.readouterr()
    assert exit_code("report", out) == 2
    assert message in capsys.readouterr().err


def test_an_executors_name_cannot_lead_out_of_the_directory(
    ready: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(ready.out)
    command = ("compare", "app.yaml", "--executors", "preemptive", "--seconds", "1", "--out", out)
    assert exit_code(*command) == 0
    path = ready.out / "results.json"
    text = path.read_text().replace('"executor": "preemptive"', '"executor": "../../etc"')
    path.write_text(text)
    capsys.readouterr()
    assert exit_code("report", out) == 2
    assert "executor '../../etc' cannot be the name of a folder" in capsys.readouterr().err


def test_the_report_cannot_replace_a_directory(
    ready: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(ready.out)
    command = ("compare", "app.yaml", "--executors", "preemptive", "--seconds", "1", "--out", out)
    assert exit_code(*command) == 0
    assert exit_code("report", out, "-o", str(ready.state)) == 2
    assert "is a directory; expected the name of a file" in capsys.readouterr().err
    assert exit_code("report", out, "-o", str(ready.root / "no/where.html")) == 2
    assert "no is no directory; make it first" in capsys.readouterr().err
    assert not Path(ready.root / "no").exists()


def test_help_and_version_answer_with_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    version = ElementTree.parse(PACKAGE_XML).findtext("version")
    assert exit_code("--version") == 0
    assert capsys.readouterr().out == f"rclrt {version}\n"
    assert exit_code("compare", "--help") == 0
    assert "-- ROS arguments" in capsys.readouterr().out
