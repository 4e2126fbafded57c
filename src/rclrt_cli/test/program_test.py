# SPDX-License-Identifier: Apache-2.0
"""The programs that users start: the installed `rclrt`, and the launcher of a checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rclrt_py.testing.command import python_path
from sources import LAUNCHER, PROGRAM


def environment(sources: str) -> dict[str, str]:
    """Returns this environment, with the interpreter of the tests as python3."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": sources, "PYTHONNOUSERSITE": "1"}


def run(
    *command: object, cwd: Path, sources: str | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment(python_path() if sources is None else sources),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--version"], 0), (["report", "absent"], 2), (["analyse"], 2)]
)
def test_the_program_answers_as_the_module_does(
    tmp_path: Path, arguments: list[str], code: int
) -> None:
    program = run(PROGRAM, *arguments, cwd=tmp_path)
    module = run(sys.executable, "-P", "-m", "rclrt_cli", *arguments, cwd=tmp_path)
    assert program.returncode == code
    assert (program.stdout, program.stderr) == (module.stdout, module.stderr)


def test_files_beside_the_program_and_in_the_current_directory_are_not_imported(
    tmp_path: Path,
) -> None:
    beside, current = tmp_path / "bin", tmp_path / "current"
    for directory in (beside, current):
        (directory / "rclrt_cli").mkdir(parents=True)
        for name in ("rclrt_cli/__init__.py", "json.py"):
            (directory / name).write_text("raise SystemExit('the wrong module')\n")
    program = shutil.copy(PROGRAM, beside / "rclrt")
    answer = run(program, "--version", cwd=current)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.startswith("rclrt ")


def test_outside_of_the_workspace_the_fix_is_named(tmp_path: Path) -> None:
    answer = run(PROGRAM, "doctor", cwd=tmp_path, sources="")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "source the setup.bash of the workspace" in answer.stderr


@pytest.mark.parametrize("place", ["bin/rclrt", "lib/rclrt_cli/rclrt"])
def test_it_is_installed_for_the_path_and_for_ros2_run(tmp_path: Path, place: str) -> None:
    prefixes = [Path(prefix) for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(":")]
    prefix = next(
        (each for each in prefixes if (each / "share/rclrt_cli/package.xml").is_file()), None
    )
    if prefix is None:
        pytest.skip("rclrt_cli is not installed in a prefix of AMENT_PREFIX_PATH")
    answer = run(prefix / place, "--version", cwd=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.startswith("rclrt ")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the launcher and a tools/env that enters nothing."""
    if not LAUNCHER.is_file():
        pytest.skip("the package is not in a checkout of the repository")
    shutil.copy(LAUNCHER, tmp_path / "rclrt")
    write_program(
        tmp_path / "tools/env", "echo 'export RCLRT_DISTRO=jazzy; export RCLRT_PRESET=dev'"
    )
    return tmp_path


def write_program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_the_launcher_starts_what_is_installed(checkout: Path) -> None:
    write_program(checkout / "install/jazzy-dev/bin/rclrt", "printf '<%s>' \"$@\"\nexit 3")
    answer = run(checkout / "rclrt", "run", "an app.yaml", "--", "", cwd=checkout)
    assert (answer.returncode, answer.stdout) == (3, "<run><an app.yaml><--><>")


def test_the_launcher_of_a_checkout_that_is_not_built_names_the_fix(checkout: Path) -> None:
    answer = run(checkout / "rclrt", "doctor", cwd=checkout)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == (
        "error: rclrt is not built for ROS 2 jazzy (preset dev).\n"
        f"fix: make -C '{checkout}' build DISTRO=jazzy PRESET=dev\n"
    )
