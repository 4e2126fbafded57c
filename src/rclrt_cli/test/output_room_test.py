# SPDX-License-Identifier: Apache-2.0
"""An output without room is named, and the exit code is not that of an answer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from rclrt_cli.commands import analyze
from rclrt_py.errors import RclrtError
from rclrt_py.testing.command import Rclrt, command, environment
from sources import ROOT

APPLICATION = ROOT / "examples/fig_5_5/app.yaml"
UNPROVED = """\
rclrt: 1
name: late
nodes: [{name: n}]
callbacks: [{id: t, node: n, timer: {period_ms: 10}, wcet_ms: 9}]
chains: [{id: c, callbacks: [t], priority: 1, deadline_ms: 2}]
"""
SAID = "cannot be written: No space left on device"


@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", APPLICATION),
        ("analyze", APPLICATION, "--json"),
        ("synthesize", APPLICATION, "-o", "-"),
        ("doctor",),
        ("workloads", "list"),
    ],
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_standard_output_is_named(
    arguments: tuple[str | Path, ...], unbuffered: str
) -> None:
    own = {**environment(), "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command(*arguments),
            stdout=full,
            stderr=subprocess.PIPE,
            env=own,
            text=True,
            check=False,
        )
    assert done.returncode == 2, done.stderr
    assert done.stderr.endswith(f"rclrt: standard output: {SAID}; let it go to a place with room\n")
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize(
    ("verb", "option"), [("synthesize", "-o"), ("analyze", "--counter-example")]
)
def test_a_full_device_is_named(rclrt: Rclrt, tmp_path: Path, verb: str, option: str) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(UNPROVED)
    answer = rclrt(verb, app, option, "/dev/full")
    assert answer.code == 2
    assert answer.err.endswith(f"rclrt: /dev/full: {SAID}\n")
    assert Path("/dev/full").is_char_device()


def test_a_value_that_needs_a_missing_package_gives_an_error(
    rclrt: Rclrt, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise RclrtError(f"{name}: rclrt_model cannot be loaded")

    monkeypatch.setattr(analyze, "executor_argument", missing)
    answer = rclrt("analyze", APPLICATION, "--executor", "edf")
    assert (answer.code, answer.err) == (1, "rclrt: edf: rclrt_model cannot be loaded\n")
