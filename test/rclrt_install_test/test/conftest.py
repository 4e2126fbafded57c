# SPDX-License-Identifier: Apache-2.0
"""Provides a directory outside of the sources for each test file, removed after its last test."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from installed import ROOT


@pytest.fixture(scope="module")
def outside() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rclrt-install-test-") as directory:
        path = Path(directory).resolve()
        assert not path.is_relative_to(ROOT), (
            f"{path} is inside of the sources; set TMPDIR to a directory elsewhere"
        )
        (path / "home").mkdir()
        yield path
