# SPDX-License-Identifier: Apache-2.0
"""The findings of `rclrt doctor`, as a check and a report of `ros2 doctor`.

ros2doctor may not be installed, so this module imports it only in the functions that ros2doctor
calls.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rclrt_py.doctor.checks import Finding, Level
from rclrt_py.doctor.examine import examine

CATEGORY = "real-time"
"""Links the check with its report."""


class RealTimeCheck:
    """Check what this machine gives a real-time program."""

    def category(self) -> str:
        return CATEGORY

    def check(self) -> Any:
        """Returns an error per blocker and a warning per warning, after printing each."""
        from ros2doctor.api import Result
        from ros2doctor.api.format import doctor_error, doctor_warn

        result = Result()
        for finding in findings():
            if finding.level is Level.BLOCKER:
                result.add_error()
                doctor_error(f"{finding.name}: {described(finding)}")
            elif finding.level is Level.WARNING:
                result.add_warning()
                doctor_warn(f"{finding.name}: {described(finding)}")
        return result


class RealTimeReport:
    """Report what this machine gives a real-time program."""

    def category(self) -> str:
        return CATEGORY

    def report(self) -> Any:
        """Returns a line per finding."""
        from ros2doctor.api import Report

        report = Report("REAL-TIME INFORMATION")
        for finding in findings():
            level = "" if finding.level is Level.OK else f"{finding.level.value}: "
            report.add_to_report(finding.name, level + described(finding))
        return report


def findings() -> list[Finding]:
    return examine(Path("/"), os.environ)


def described(finding: Finding) -> str:
    """Describes a finding, and the fix if there is one."""
    return finding.found if finding.fix is None else f"{finding.found}; fix: {finding.fix}"
