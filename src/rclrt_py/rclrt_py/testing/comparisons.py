# SPDX-License-Identifier: Apache-2.0
"""Fixtures of tests that need a comparison. A conftest.py imports them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rclrt_py.comparisons.comparison import Comparison, merge_directory
from rclrt_py.testing.synthetic_run import EXECUTORS, write_run


@pytest.fixture(scope="session")
def comparison_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rounds of every executor, as the runner would have left them. Read-only."""
    directory = tmp_path_factory.mktemp("comparison")
    for number in (1, 2):
        for executor in EXECUTORS:
            write_run(directory / executor / f"round-{number}", executor, 3.0, seed=number)
    return directory


@pytest.fixture(scope="session")
def comparison(comparison_directory: Path) -> Comparison:
    return merge_directory(comparison_directory, EXECUTORS, 2, 6.0)
