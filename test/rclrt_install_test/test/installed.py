# SPDX-License-Identifier: Apache-2.0
"""The installed files of the workspace under test, and of the ROS 2 on which it is built."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
"""The directory of the sources. Installed files must not need it."""

SYSTEM_PATH = "/usr/bin:/bin"

ENTERED = (
    "AMENT_PREFIX_PATH",
    "CMAKE_PREFIX_PATH",
    "CYCLONEDDS_URI",
    "LD_PRELOAD",  # selects the middleware: tools/middleware.sh
    "PATH",
    "PYTHONPATH",
    "RMW_IMPLEMENTATION",
    "ROS_AUTOMATIC_DISCOVERY_RANGE",
    "ROS_DISTRO",
    "ROS_DOMAIN_ID",
    "ROS_PYTHON_VERSION",
    "ROS_VERSION",
)
"""The environment variables of ROS 2 and of this workspace in a user's shell."""


def prefixes() -> list[Path]:
    """Returns all prefixes of the environment, ours first."""
    paths = [
        path
        for variable in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH")
        for path in os.environ.get(variable, "").split(os.pathsep)
        if path
    ]
    return [Path(path) for path in dict.fromkeys(paths)]


def our_prefixes() -> list[Path]:
    """Returns the install prefixes of our packages: one for all, or one per package."""
    found = [path for path in prefixes() if any((path / "share").glob("rclrt*/package.xml"))]
    assert found, (
        "no package of rclrt is installed in AMENT_PREFIX_PATH or CMAKE_PREFIX_PATH; "
        "build the workspace, and run the tests by make test or colcon test"
    )
    return found


def ros_prefixes() -> list[Path]:
    return [path for path in prefixes() if path not in our_prefixes()]


def prefix_of(package: str) -> Path:
    """Returns the install prefix of one of our packages."""
    for path in our_prefixes():
        if (path / "share" / package / "package.xml").is_file():
            return path
    raise AssertionError(f"the package {package} is not installed in {our_prefixes()}")


def users_environment(home: Path, libraries: Sequence[Path] = ()) -> dict[str, str]:
    """Returns the environment of a user who has sourced only ROS 2 and this workspace.

    `libraries` are directories for LD_LIBRARY_PATH.
    """
    environment = {name: os.environ[name] for name in ENTERED if name in os.environ}
    environment["HOME"] = str(home)
    if libraries:
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(map(str, libraries))
    return environment


def run(
    *command: object, environment: Mapping[str, str], directory: Path, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Runs a command that must end with `code`. Fails with its whole output otherwise."""
    words = [str(word) for word in command]
    answer = subprocess.run(
        words,
        env=environment,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == code, (
        f"{' '.join(words)}\nended with {answer.returncode}, expected {code}\n"
        f"{answer.stdout}{answer.stderr}"
    )
    return answer


def build_jobs() -> str:
    return str(len(os.sched_getaffinity(0)))
