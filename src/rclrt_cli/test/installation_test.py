# SPDX-License-Identifier: Apache-2.0
"""Programs are found in the workspaces of AMENT_PREFIX_PATH, then in the Python wheel."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from rclrt_py.doctor import ros
from rclrt_py.errors import BadInput
from rclrt_py.processes import installation
from rclrt_py.processes.runner import find_program
from rclrt_py.testing.command import Rclrt
from rclrt_py.testing.workspace import app_yaml


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes this the installation of a wheel; returns its simulator."""
    programs = tmp_path / "site/rclrt_py/programs"
    monkeypatch.setattr(installation, "PROGRAMS", programs)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    return program(programs / "rclrt_simulator")


def test_the_programs_of_the_wheel_are_in_the_package_rclrt_py() -> None:
    assert Path(str(files("rclrt_py"))).resolve() / "programs" == installation.PROGRAMS


def test_the_wheel_has_its_own_programs(wheel: Path) -> None:
    assert find_program({}, "rclrt_simulator", "rclrt_simulator") == wheel


def test_a_workspace_comes_before_the_wheel(wheel: Path, tmp_path: Path) -> None:
    ours = program(tmp_path / "prefix/lib/rclrt_simulator/rclrt_simulator")
    environment = {"AMENT_PREFIX_PATH": f"/nowhere:{tmp_path / 'prefix'}"}
    assert find_program(environment, "rclrt_simulator", "rclrt_simulator") == ours


def test_what_is_not_executable_is_no_program(wheel: Path) -> None:
    wheel.chmod(0o644)
    with pytest.raises(BadInput, match="rclrt_simulator"):
        find_program({}, "rclrt_simulator", "rclrt_simulator")


@pytest.mark.parametrize(
    ("verb", "needed"),
    [
        (["run", "app.yaml", "--executor", "preemptive", "--out", "out"], "rclrt_runner"),
        (["compare", "app.yaml", "--out", "out"], "rclrt_runner"),
        (["calibrate"], "rclrt_runner"),
        (["bench", "executors"], "executors of rclrt_bench"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_wheel_says_what_it_cannot_and_what_to_install(
    wheel: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rclrt: Rclrt,
    verb: list[str],
    needed: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.yaml").write_text(app_yaml(), encoding="utf-8")
    answer = rclrt(*verb)
    assert answer.code == 2
    assert answer.err.startswith(
        "rclrt: this rclrt is the Python wheel, which works without ROS 2; "
        f"the program {needed} needs ROS 2 and was not found (AMENT_PREFIX_PATH is not set)\n"
        "  fix: install ROS 2, build the rclrt workspace on it"
    )
    assert not (tmp_path / "out").exists()


def test_a_workspace_is_no_wheel() -> None:
    assert not installation.is_wheel()
    assert "source the workspace's install/setup.bash" in installation.ros_fix()


def test_doctor_names_the_fix_of_the_wheel(wheel: Path) -> None:
    assert ros.distribution({}).fix == installation.LEAVE_WHEEL
    assert ros.runner({}).fix == installation.LEAVE_WHEEL
