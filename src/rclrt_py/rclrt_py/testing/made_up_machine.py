# SPDX-License-Identifier: Apache-2.0
"""A made-up /proc and /sys, for the checks of the doctor."""

from __future__ import annotations

from pathlib import Path

from rclrt_py.doctor.checks import Finding, Level
from rclrt_py.doctor.login import Login

CPU = "sys/devices/system/cpu"
USER = Login("ada", ("video", "realtime"), root=False, uid=1000)
LIMITS = "etc/security/limits.d/rclrt_ada.conf"
BUDGET = "sys/fs/cgroup/cpu,cpuacct/robot/cpu.rt_runtime_us"


def machine(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n")
    return root


def isolating(cmdline: str, nohz_full: str = "", isolated: str = "2-3") -> dict[str, str]:
    return {
        f"{CPU}/isolated": isolated,
        f"{CPU}/online": "0-3",
        f"{CPU}/nohz_full": nohz_full,
        "proc/cmdline": cmdline,
    }


def level_of(finding: Finding) -> str:
    # Every finding that is not ok must have a fix.
    assert (finding.fix is None) == (finding.level is Level.OK)
    return finding.level.value
