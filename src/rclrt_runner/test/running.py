# SPDX-License-Identifier: Apache-2.0
"""The program as a user calls it, and a small application."""

from __future__ import annotations

import csv
import os
import subprocess
from pathlib import Path

import pytest

RUNNER = os.environ["RCLRT_RUNNER"]
GENEROUS_S = 120  # only a program that hangs takes as long
APPLICATION = """\
rclrt: 1
name: small
nodes: [{name: sensors}, {name: control}]
callbacks:
  - {id: scan, node: sensors, timer: {period_ms: 20}, wcet_ms: 0.5, publishes: [points]}
  - {id: look, node: sensors, timer: {period_ms: 20, offset_ms: 3}, wcet_ms: 0.5,
     publishes: [objects], priority: 2}
  - {id: fuse, node: control, sync: {topics: [points, objects], window_ms: 8}, wcet_ms: 0.5,
     publishes: [fused]}
  - {id: brake, node: control, subscription: {topic: fused}, wcet_ms: 0.2, group: act}
  - {id: log, node: control, timer: {period_ms: 50}, wcet_ms: 4, group: act}
chains:
  - {id: obstacle, callbacks: [scan, fuse, brake], priority: 2}
  - {id: logging, callbacks: [log], priority: 1}
topics: [{name: points, size_bytes: 10000}]
"""

without_fork = pytest.mark.skipif(
    os.environ.get("RCLRT_PRESET") == "tsan",
    reason="ThreadSanitizer does not follow a fork of a process with threads, which LTTng starts",
)
"""For runs of several processes."""


def run(
    app: Path, out: Path, executor: str, *more: str, program: str = RUNNER
) -> subprocess.CompletedProcess[str]:
    command = [program, str(app), "--executor", executor, "--seconds", "0.6", "--out", str(out)]
    return subprocess.run(
        [*command, *more],
        capture_output=True,
        text=True,
        timeout=GENEROUS_S,
        check=False,
    )


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))
