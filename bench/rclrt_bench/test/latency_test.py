# SPDX-License-Identifier: Apache-2.0
"""The benchmark runs, and its rows are complete. How fast anything is, is not a test."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

LATENCY = os.environ["RCLRT_LATENCY"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"ROS_DOMAIN_ID": str(os.getpid() % 100)}
    return subprocess.run(
        [LATENCY, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_every_case_has_its_samples_and_its_floor(tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    done = run("--rounds", "2", "--samples", "20", "--json", str(rows))
    assert done.returncode == 0, done.stderr
    by_case = {row["case"]: row for row in json.loads(rows.read_text())}
    assert len(by_case) == 3 + 2 * 4
    for row in by_case.values():
        assert row["samples"] == 40  # 2 rounds of 20
        assert 0 < row["p50_us"] <= row["p99_us"] <= row["max_us"]
    sleep = by_case["bare nanosleep"]["p50_us"]
    assert by_case["timer, preemptive"]["floor_us"] == pytest.approx(sleep, rel=1e-4)
    both = by_case["inline publish, take"]["p50_us"] + by_case["bare futex wake"]["p50_us"]
    assert by_case["publish, wait_set"]["floor_us"] == pytest.approx(both, rel=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rounds", "0"], "--rounds 0: expected a whole number from 1 to 1000"),
        (["--samples", "x"], "--samples x: expected a whole number from 1 to 1000000"),
        (["--cpu", "8000"], "CPU 8000 cannot be used by this process"),
        (["--json"], "--json: expected a value after it"),
        (["--fast"], "unknown option --fast"),
    ],
)
def test_wrong_input_is_exit_code_2(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
