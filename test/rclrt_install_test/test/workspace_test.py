# SPDX-License-Identifier: Apache-2.0
"""rclrt in a user's colcon workspace."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from expected import CONSUMER
from installed import build_jobs, our_prefixes, ros_prefixes, run, users_environment


@pytest.fixture(scope="module")
def workspace(outside: Path) -> Path:
    """Builds the workspace and returns its path."""
    shutil.copytree(CONSUMER / "workspace", outside / "src")
    environment = users_environment(outside / "home")
    environment["MAKEFLAGS"] = f"-j{build_jobs()}"
    command = ("colcon", "build", "--merge-install", "--event-handlers", "console_direct+")
    run(*command, environment=environment, directory=outside)
    return outside


def run_program(workspace: Path, *command: object) -> str:
    """Runs a command in a shell that has sourced the workspace and its underlay."""
    libraries = [path / "lib" for path in (*our_prefixes(), *ros_prefixes())]
    return run(
        *("bash", "--norc", "-c", '. install/local_setup.bash && exec "$@"', "bash", *command),
        environment=users_environment(workspace / "home", libraries),
        directory=workspace,
    ).stdout


def test_a_node_receives_what_it_publishes(workspace: Path) -> None:
    printed = run_program(workspace, "install/lib/consumer_node/counter")
    assert printed == "received five, in order\n"


def test_two_components_have_one_engine_between_them(workspace: Path) -> None:
    folder = workspace / "install/lib/consumer_components"
    printed = run_program(
        workspace, folder / "host", folder / "libfirst.so", folder / "libsecond.so"
    )
    assert printed.splitlines() == [
        "the second's node in the first's executor: five runs, one state",
        "the first's node in the second's executor: five runs, one state",
        "unloaded",
    ]
