# SPDX-License-Identifier: Apache-2.0
"""rclrt_model_check as a user sees it: its output and its exit code."""

import os
import subprocess
from pathlib import Path

import pytest
from broken_applications import broken_applications

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[2] / "examples"
BROKEN = broken_applications()


def check(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    program = os.environ["RCLRT_MODEL_CHECK"]
    return subprocess.run([program, *arguments], capture_output=True, check=False, timeout=120)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_gives_its_located_errors_and_exit_code_2(name: str, tmp_path: Path) -> None:
    file = BROKEN[name].write(tmp_path)
    result = check(file)
    assert result.returncode == 2
    expected = [f"{file}:{error}" for error in BROKEN[name].errors]
    assert result.stderr.decode().split("\n") == [*expected, ""]
    assert result.stdout == b""


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*/app.yaml")), ids=lambda f: f.parent.name)
def test_an_example_is_ok_and_gives_exit_code_0(file: Path) -> None:
    result = check(file)
    assert result.returncode == 0
    assert result.stdout.startswith(os.fsencode(file) + b": ok: ")
    assert result.stderr == b""


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*/robot.yaml")), ids=lambda f: f.parent.name)
def test_the_robot_file_of_an_example_gives_no_warning(file: Path) -> None:
    result = check("--robot", file)
    assert (result.returncode, result.stderr) == (0, b"")


def test_a_warning_goes_to_standard_error_and_leaves_exit_code_0(tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(
        "rclrt: 1\nname: demo\nexecutors: [{name: main, cpus: [1]}]\nnodes: [{name: a}]\n"
        "callbacks: [{id: tick, node: a, timer: {period_ms: 10}, wcet_ms: 20}]\n"
        "chains: [{id: beat, callbacks: [tick]}]\n"
    )
    result = check(file)
    assert result.returncode == 0
    assert result.stdout.decode() == f"{file}: ok: 1 callback, 1 chain, utilisation 200.0 %\n"
    [line] = result.stderr.decode().splitlines()
    assert line.startswith(f"{file}: warning: the callbacks on cpus: [1] need 200 % of the time")
    robot = tmp_path / "robot.yaml"
    robot.write_text("rclrt: 1\ncallbacks: [{node: /a, priority: 3}]\n")
    result = check("--robot", robot)
    assert result.returncode == 0
    assert b"robot.yaml: warning: messages from other processes" in result.stderr


def test_a_missing_file_gives_exit_code_2_and_says_so(tmp_path: Path) -> None:
    result = check(tmp_path / "nowhere.yaml")
    assert result.returncode == 2
    assert b"nowhere.yaml: the file cannot be read: No such file or directory" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], b"no FILE; expected the path of an app.yaml"),
        ([""], b"FILE: expected a value"),
        (["--robot"], b"no FILE; expected the path of an app.yaml"),
        (["a", "b"], b"unexpected argument 'b'; see --help"),
        (["--strict"], b"unknown option --strict; see --help"),
        (["--robt", "a"], b"unknown option --robt; did you mean --robot?"),
        (["--robot", "--host", "a"], b"--robot and --host: the file is either"),
    ],
)
def test_wrong_arguments_give_exit_code_2_and_what_was_expected(
    arguments: list[str], problem: bytes
) -> None:
    result = check(*arguments)
    assert result.returncode == 2
    assert result.stderr.startswith(b"rclrt_model_check: " + problem)
    assert result.stdout == b""


def test_help_gives_exit_code_0() -> None:
    result = check("--help")
    assert result.returncode == 0
    assert result.stdout.startswith(b"usage: rclrt_model_check FILE [--robot] [--host]")
