# SPDX-License-Identifier: Apache-2.0
"""The environment that a test gives to a command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rclrt_py.testing.command import python_path


@pytest.mark.parametrize("inherited", [None, "", "/a", ":/a:"])
def test_the_working_directory_is_not_in_the_path_of_modules(
    monkeypatch: pytest.MonkeyPatch, inherited: str | None
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    if inherited is not None:
        monkeypatch.setenv("PYTHONPATH", inherited)
    parts = python_path().split(os.pathsep)
    assert all(Path(part).is_absolute() for part in parts)
    assert ("/a" in parts) == ("/a" in (inherited or ""))
