# SPDX-License-Identifier: Apache-2.0
"""`./rclrt` of the checkout, started from a shell with or without workspaces."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sources import LAUNCHER, ROOT

pytestmark = pytest.mark.skipif(
    os.environ.get("RCLRT_ROS_FROM") != "wheels" or not LAUNCHER.is_file(),
    reason="the launcher belongs to a checkout with ROS 2 from wheels",
)

SAY = """
import os
HELP = "print the environment"
def add_arguments(parser): pass
def run(arguments):
    print("AMENT_PREFIX_PATH=" + os.environ["AMENT_PREFIX_PATH"])
    print("LD_LIBRARY_PATH=" + os.environ["LD_LIBRARY_PATH"])
    return 0
"""


def overlay(folder: Path) -> Path:
    """A workspace of the user: one package with one verb."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = folder / "lib" / version / "site-packages"
    metadata = site / "their_robot-1.0.dist-info"
    metadata.mkdir(parents=True)
    (folder / "share").mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: their-robot\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[rclrt.verbs]\nsay = their_robot\n")
    (site / "their_robot.py").write_text(SAY)
    return folder


def say(prefix_path: str) -> subprocess.CompletedProcess[str]:
    outside = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")}
    if "RCLRT_PRESET" in os.environ:
        outside["PRESET"] = os.environ["RCLRT_PRESET"]
    return subprocess.run(
        [LAUNCHER, "say"],
        env=outside | {"AMENT_PREFIX_PATH": prefix_path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_workspaces_that_the_user_has_sourced_stay_in_front_in_their_order(tmp_path: Path) -> None:
    first, second = overlay(tmp_path / "first one"), tmp_path / "second"
    (second / "share").mkdir(parents=True)
    answer = say(f"{first}:{second}")
    assert answer.returncode == 0, answer.stderr
    paths = dict(line.split("=", 1) for line in answer.stdout.splitlines())
    assert paths["AMENT_PREFIX_PATH"].startswith(f"{first}:{second}:{ROOT}/install/")
    assert paths["LD_LIBRARY_PATH"].startswith(f"{first}/lib:{second}/lib:{ROOT}/install/")


def test_another_ros_among_them_is_left_out(tmp_path: Path) -> None:
    mine, other = overlay(tmp_path / "mine"), tmp_path / "other"
    (other / "share" / "rcl").mkdir(parents=True)
    (other / "share" / "rcl" / "package.xml").write_text("<package/>")
    answer = say(f"{mine}:{other}:{tmp_path / 'absent'}")
    assert answer.returncode == 0, answer.stderr
    assert str(other) not in answer.stdout
    assert "absent" not in answer.stdout


def test_a_program_that_is_not_built_is_named_with_the_command_that_builds_it() -> None:
    answer = subprocess.run(
        [ROOT / "tools/env", "rclrt_no_such_program"], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert answer.stderr.startswith("error: rclrt_no_such_program is not built for ROS 2 ")
    assert f"fix: make -C '{ROOT}' build " in answer.stderr
