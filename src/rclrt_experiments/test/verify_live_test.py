# SPDX-License-Identifier: Apache-2.0
"""`rclrt verify --run` on ROS 2."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from rclrt_py.testing.command import command
from rclrt_py.testing.waiting import GENEROUS_S


def verify(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("verify", *arguments),
        capture_output=True, text=True, timeout=GENEROUS_S, check=False,
    )  # fmt: skip


def test_applications_run_on_real_ros() -> None:
    done = verify("--preset", "drone", "--count", "1", "--run", "1", "--seconds", "0.5")
    assert done.returncode in (0, 3), (
        done.stderr
    )  # a busy machine is above bounds without overheads
    assert re.search(
        r"1 applications ran under preemptive for 0.5 s each: 10 instances of chains", done.stdout
    )
    assert re.search(r"CPU time of 6 callbacks / their assigned time: median [1-9]\.", done.stdout)


def test_applications_that_run_do_workloads(tmp_path: Path) -> None:
    file = tmp_path / "workloads.json"
    calibrated = subprocess.run(
        [
            *command("workloads", "calibrate"),
            *("matrix", "sort", "--iterations", "50", "-o", file),
        ],
        capture_output=True, text=True, timeout=GENEROUS_S, check=False,
    )  # fmt: skip
    assert calibrated.returncode == 0, calibrated.stderr
    done = verify(
        *("--preset", "drone", "--count", "1", "--run", "1", "--seconds", "0.5"),
        *("--workloads", str(file), "--workload-time", "p50"),
    )
    assert done.returncode in (0, 3), done.stderr
    assert re.search(r"CPU time of 6 callbacks / their assigned time: median \d\.", done.stdout)
