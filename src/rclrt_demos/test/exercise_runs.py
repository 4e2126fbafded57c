# SPDX-License-Identifier: Apache-2.0
"""Runs of the exercises' programs that are long enough to show something."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TIMEOUT_S = 300


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)


def results(path: Path) -> Any:
    return json.loads(path.read_text())


def values(result: Any) -> dict[str, list[int]]:
    return {one["name"]: one["values_ns"] for one in result["slices"]}


def measure(
    program: str,
    *options: str,
    directory: Path,
    durations: tuple[str, ...] = ("0.3", "1", "4", "16", "64"),
    shown: Callable[[Any], bool] = lambda result: True,
) -> Any:
    """The results of a run that was long enough for every slice to have a value and for `shown`.
    A run that dropped values is repeated: there is room for a tenth and a second more than its
    planned duration, and a machine that stalls may need more."""
    file = directory / "out.json"
    for seconds in durations:
        ran = run(program, *options, "--seconds", seconds, "--json", str(file))
        assert ran.returncode == 0, ran.stderr
        result = results(file)
        assert result["seconds"] == float(seconds)
        if not result["real_time"]:
            assert result["reason"] in ran.stderr
        if all(values(result).values()) and "dropped" not in result["notes"] and shown(result):
            return result
    pytest.fail(f"not shown in {seconds} s: {result['notes']}, {values(result)}")
