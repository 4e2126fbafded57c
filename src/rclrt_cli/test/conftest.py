# SPDX-License-Identifier: Apache-2.0
"""The package under test is the one in the source tree beside this directory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from rclrt_cli.comparison import Comparison, merge_directory  # noqa: E402
from synthetic_run import EXECUTORS, write_run  # noqa: E402
from workspace import Workspace  # noqa: E402


@pytest.fixture(scope="session")
def comparison_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rounds of every executor, as the runner would have left them. Read it only."""
    directory = tmp_path_factory.mktemp("comparison")
    for number in (1, 2):
        for executor in EXECUTORS:
            write_run(directory / executor / f"round-{number}", executor, 3.0, seed=number)
    return directory


@pytest.fixture(scope="session")
def comparison(comparison_directory: Path) -> Comparison:
    return merge_directory(comparison_directory, EXECUTORS, 2, 6.0)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.make(tmp_path)
