# SPDX-License-Identifier: Apache-2.0
"""RMW selects the middleware of everything that runs through tools/env."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from sources import LAUNCHER, ROOT

pytestmark = pytest.mark.skipif(
    os.environ.get("RCLRT_ROS_FROM") != "wheels" or not LAUNCHER.is_file(),
    reason="tools/env belongs to a checkout, and the messages are those of ROS 2 from wheels",
)
CHOOSER = "librmw_implementation.so"


def enter(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Runs tools/env in a shell that has only these settings."""
    outside = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")}
    if "RCLRT_PRESET" in os.environ:
        outside["PRESET"] = os.environ["RCLRT_PRESET"]
    return subprocess.run(
        [ROOT / "tools/env", *arguments],
        env=outside | settings,
        capture_output=True,
        text=True,
        check=False,
    )


def variables(entered: subprocess.CompletedProcess[str]) -> dict[str, str]:
    assert entered.returncode == 0, entered.stderr
    return dict(re.findall(r"^export (\w+)='(.*)'$", entered.stdout, re.MULTILINE))


def workspace(folder: Path, rmw: str, *, chooser: bool = True) -> Path:
    """Makes the install folder of a workspace with a middleware."""
    (folder / "share" / rmw).mkdir(parents=True)
    (folder / "share" / rmw / "package.xml").write_text("<package/>")
    (folder / "lib").mkdir()
    if chooser:
        (folder / "lib" / CHOOSER).touch()
    return folder


def test_an_absent_middleware_is_an_error_with_the_fix() -> None:
    answer = enter("true", RMW="of_tomorrow")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "error: RMW=of_tomorrow: the middleware rmw_of_tomorrow_cpp is not installed" in (
        answer.stderr
    )
    assert "fix: build rmw_implementation and rmw_of_tomorrow_cpp in a workspace" in answer.stderr


def test_a_middleware_of_another_workspace_is_selected(tmp_path: Path) -> None:
    folder = workspace(tmp_path / "ws", "rmw_other_cpp")
    for name in ("other", "rmw_other_cpp"):
        found = variables(enter(RMW=name, UNDERLAY=str(folder)))
        assert found["RMW_IMPLEMENTATION"] == "rmw_other_cpp"
        assert found["LD_PRELOAD"] == str(folder / "lib" / CHOOSER)
        assert "CYCLONEDDS_URI" not in found


def test_the_wheels_need_a_library_that_makes_it_a_choice(tmp_path: Path) -> None:
    folder = workspace(tmp_path / "ws", "rmw_other_cpp", chooser=False)
    answer = enter("true", RMW="other", UNDERLAY=str(folder))
    assert answer.returncode == 2
    assert "runs only on rmw_fastrtps_cpp, to which it is linked" in answer.stderr
    assert "fix: build rmw_implementation in the workspace of UNDERLAY" in answer.stderr


def test_a_path_that_ld_preload_would_split_is_refused(tmp_path: Path) -> None:
    folder = workspace(tmp_path / "my robot", "rmw_other_cpp")
    answer = enter("true", RMW="other", UNDERLAY=str(folder))
    assert answer.returncode == 2
    assert "LD_PRELOAD" in answer.stderr
    assert "fix: " in answer.stderr


def test_the_default_needs_no_workspace() -> None:
    found = variables(enter(RMW="fastrtps"))
    assert found["RMW_IMPLEMENTATION"] == "rmw_fastrtps_cpp"
    assert "LD_PRELOAD" not in found
    assert "RMW_IMPLEMENTATION" not in variables(enter())


def test_cyclone_dds_stays_on_the_loopback_unless_the_user_sets_another_configuration(
    tmp_path: Path,
) -> None:
    settings = {
        "RMW": "cyclonedds",
        "UNDERLAY": str(workspace(tmp_path / "ws", "rmw_cyclonedds_cpp")),
    }
    assert '<NetworkInterface name="lo"/>' in variables(enter(**settings))["CYCLONEDDS_URI"]
    own = {"CYCLONEDDS_URI": "file:///mine.xml"}
    assert "CYCLONEDDS_URI" not in variables(enter(**settings, **own))
    wide = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}
    assert "CYCLONEDDS_URI" not in variables(enter(**settings, **wide))


def test_a_build_does_not_depend_on_it() -> None:
    entered = enter("--underlay", RMW="of_tomorrow")
    assert "RMW_IMPLEMENTATION" not in variables(entered)
