# SPDX-License-Identifier: Apache-2.0
"""The replacement of ROS's tracetools library exports every function of the original."""

from __future__ import annotations

import os
import subprocess


def functions(library: str) -> set[str]:
    listed = subprocess.run(
        ["nm", "--dynamic", "--defined-only", library], capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in listed.stdout.splitlines()]
    return {row[2] for row in rows if len(row) == 3 and row[1] == "T"}


def needed(library: str) -> str:
    return subprocess.run(
        ["readelf", "--dynamic", library], capture_output=True, text=True, check=True
    ).stdout


def test_every_function_is_there() -> None:
    theirs = functions(os.environ["RCLRT_THEIR_TRACETOOLS"])
    ours = functions(os.environ["RCLRT_OUR_TRACETOOLS"])
    assert len(theirs) > 100
    assert theirs <= ours


def test_it_takes_the_place_of_the_other_and_uses_the_systems_lttng() -> None:
    dynamic = needed(os.environ["RCLRT_OUR_TRACETOOLS"])
    assert "soname: [libtracetools.so]" in dynamic
    assert "[liblttng-ust.so.1]" in dynamic
