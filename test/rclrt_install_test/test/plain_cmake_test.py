# SPDX-License-Identifier: Apache-2.0
"""A plain CMake project uses the packages without ROS from a copy of the installed files."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import pytest
from expected import APP, BOUNDS_MS, CONSUMER
from installed import SYSTEM_PATH, build_jobs, prefix_of, run

WITHOUT_ROS = (
    "rclrt_text",
    "rclrt_realtime",
    "rclrt_model",
    "rclrt_analysis",
    "rclrt_executor",
    "rclrt_recorder",
    "rclrt_workloads",
)


@pytest.fixture(scope="module")
def prefix(outside: Path) -> Path:
    """Copies the installed files of the packages without ROS to another place. Returns its path."""
    copy = outside / "prefix"
    for package in WITHOUT_ROS:
        installed = prefix_of(package)
        for part in (f"include/{package}", f"share/{package}"):
            shutil.copytree(installed / part, copy / part, symlinks=True)
        libraries = list((installed / "lib").glob(f"lib{package}.so*"))
        assert libraries, f"no lib{package}.so in {installed / 'lib'}"
        (copy / "lib").mkdir(exist_ok=True)
        for library in libraries:
            shutil.copy2(library, copy / "lib", follow_symlinks=False)
    guard = prefix_of("rclrt_realtime") / "lib/librclrt_realtime_guard.a"
    shutil.copy2(guard, copy / "lib")
    return copy


@pytest.fixture(scope="module")
def environment(outside: Path, prefix: Path) -> dict[str, str]:
    return {
        "PATH": SYSTEM_PATH,
        "HOME": str(outside / "home"),
        "CMAKE_PREFIX_PATH": str(prefix),
    }


@pytest.fixture(scope="module")
def build(outside: Path, environment: dict[str, str]) -> Path:
    cmake = shutil.which("cmake")
    assert cmake is not None
    source = shutil.copytree(CONSUMER / "plain", outside / "source")
    directory = outside / "build"
    run(cmake, "-S", source, "-B", directory, environment=environment, directory=outside)
    run(
        *(cmake, "--build", directory, "--parallel", build_jobs()),
        environment=environment,
        directory=outside,
    )
    return directory


def bounds() -> str:
    return "".join(f"{chain}: {ms * 1e6:.0f} ns, proved\n" for chain, ms in BOUNDS_MS.items())


@pytest.mark.parametrize(
    ("library", "printed"),
    [
        ("text", "42\n--priority 100: expected a whole number from 1 to 99\n"),
        ("realtime", "samples 100, max 100\n"),
        ("model", "steering: 1 callbacks\nplanning: 2 callbacks\n2500000 ns\nqueue.yaml:2:1: "),
        ("analysis", bounds()),
        ("executor", "ran three times\n"),
        ("workloads", "10 as known\n"),
        ("recorder", hashlib.sha256(APP.read_bytes()).hexdigest() + "\n"),
    ],
)
def test_a_program_with_nothing_but_the_library_does_its_work(
    build: Path, environment: dict[str, str], library: str, printed: str
) -> None:
    program = build / library / f"use_{library}"
    answer = run(program, APP, environment=environment, directory=build)
    assert answer.stdout.startswith(printed)


@pytest.mark.parametrize("library", WITHOUT_ROS)
def test_libraries_are_loaded_from_where_they_were_copied_to(
    build: Path, environment: dict[str, str], prefix: Path, library: str
) -> None:
    name = library.removeprefix("rclrt_")
    answer = run("ldd", build / name / f"use_{name}", environment=environment, directory=build)
    ours = dict(re.findall(r"(librclrt\S+) => (\S+)", answer.stdout))
    assert any(found.startswith(f"lib{library}.so.") for found in ours)
    for found, path in ours.items():
        assert Path(path).parent == prefix / "lib", f"{found} is {path}"


def test_what_cmake_reads_names_no_folder_of_the_machine(prefix: Path) -> None:
    files = list(prefix.glob("share/*/cmake/*.cmake"))
    assert len(files) >= 4 * len(WITHOUT_ROS)
    named = [
        f"{file.name}: {path}"
        for file in files
        for path in re.findall(r'["; ](/[\w.+-]+/[^;"\s]*)', file.read_text(encoding="utf-8"))
        if not path.startswith("/usr/")  # a library of the distribution
    ]
    assert named == []
