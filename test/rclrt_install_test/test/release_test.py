# SPDX-License-Identifier: Apache-2.0
"""The checks of a release, and the Debian files that bloom writes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
READ = ("LICENSE", "CHANGELOG.md", "tools/*.py", "src/*/package.xml", "src/*/CHANGELOG.rst",
        "src/*/CMakeLists.txt", "src/rclrt_py/rclrt_py/plan/data/dagre/*")  # fmt: skip


def run(
    script: str, *arguments: object, root: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, root / "tools" / script, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Makes a copy of the files that the check reads."""
    for pattern in READ:
        for path in ROOT.glob(pattern):
            place = tmp_path / path.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, place)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def test_every_package_has_what_a_release_needs() -> None:
    answer = run("release_check.py")
    assert answer.returncode == 0, answer.stdout
    assert answer.stdout.splitlines()[-1].endswith(" packages, 0 problem(s)")


def test_a_copy_of_the_files_passes_and_its_open_points_are_problems_of_a_final_check(
    copy: Path,
) -> None:
    answer = run("release_check.py", root=copy)
    assert answer.returncode == 0, answer.stdout
    opened = [line for line in answer.stdout.splitlines() if line.startswith("open: ")]
    assert len(opened) == 2
    final = run("release_check.py", "--final", root=copy)
    assert final.returncode == 1
    assert set(final.stdout.splitlines()) >= {line.removeprefix("open: ") for line in opened}
    assert "CHANGELOG.md: has changes that are of no version yet" in final.stdout


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        (
            "src/rclrt_py/package.xml",
            '<license file="rclrt_py/plan/data/dagre/LICENSE">MIT</license>',
            "",
            'expected <license file="rclrt_py/plan/data/dagre/LICENSE">MIT</license>',
        ),
        (
            "src/rclrt_text/package.xml",
            "<license>Apache-2.0</license>",
            "<license>MIT</license>",
            "src/rclrt_text/package.xml: expected <license>Apache-2.0</license>",
        ),
        ("LICENSE", "Apache License", "Some License", "LICENSE: is not the text of Apache-2.0"),
        (
            "src/rclrt_text/package.xml",
            "no ROS.</description>",
            "no ROS</description>",
            "src/rclrt_text/package.xml: the description is no sentence",
        ),
        (
            "src/rclrt_text/package.xml",
            ' email="rclrt@example.org"',
            ' email=""',
            "Maintainers must have an email address",
        ),
        (
            "src/rclrt_text/CMakeLists.txt",
            "find_package(rclrt_cmake REQUIRED)",
            "find_package(rclrt_cmake REQUIRED)\ninclude(../../LICENSE)",
            "src/rclrt_text/CMakeLists.txt:6: refers to a file outside of the package",
        ),
        (
            "src/rclrt_py/rclrt_py/plan/data/dagre/LICENSE",
            "Permission is hereby granted",
            "Nothing is granted",
            "dagre/LICENSE: a licence that release_check.py does not know",
        ),
    ],
)
def test_a_missing_part_is_named(copy: Path, file: str, old: str, new: str, problem: str) -> None:
    path = copy / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    answer = run("release_check.py", root=copy)
    assert answer.returncode == 1
    assert problem in answer.stdout


def test_without_bloom_the_fix_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    answer = run("release_debs.py", tmp_path / "out", PATH=str(tmp_path))
    assert answer.returncode == 1
    assert "bloom-generate is not on the PATH\n  fix: pip install bloom" in answer.stderr
    unknown = run("release_debs.py", tmp_path / "out", "rclrt_none")
    assert unknown.returncode == 1
    assert "there is no package rclrt_none in src" in unknown.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(shutil.which("bloom-generate") is None, reason="bloom is not installed")
def test_bloom_writes_the_debian_files_of_a_package_and_of_those_that_it_needs(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    answer = run("release_debs.py", out, "rclrt_executor")
    assert answer.returncode == 0, answer.stderr
    made = sorted(path.parent.name for path in out.glob("src/*/debian"))
    assert made == ["rclrt_cmake", "rclrt_executor", "rclrt_realtime", "rclrt_text"]
    control = (out / "src/rclrt_executor/debian/control").read_text()
    assert "Source: ros-jazzy-rclrt-executor\n" in control
    assert "ros-jazzy-rclrt-realtime" in control
    assert "Apache-2.0" in (out / "src/rclrt_executor/debian/copyright").read_text()
