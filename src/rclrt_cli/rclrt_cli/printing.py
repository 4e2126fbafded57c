# SPDX-License-Identifier: Apache-2.0
"""Prints the results and the reasons of the exit code, for several commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.comparisons.verdict import verdict
from rclrt_py.report.bound_lines import bound_lines
from rclrt_py.report.comparison_table import print_table
from rclrt_py.report.hops import hop_lines
from rclrt_py.report.miss_lines import miss_lines


def print_comparison(comparison: Comparison) -> None:
    """Prints the table, and the bounds if there are any."""
    print_table(comparison, sys.stdout, os.environ)
    for line in bound_lines(comparison.executors):
        print(line)


def print_run(comparison: Comparison, directory: Path) -> None:
    """Prints the results of a single run, with the reasons of its misses."""
    print_comparison(comparison)
    for line in [*miss_lines(directory), *hop_lines(comparison.executors[0])]:
        print(line)


def exit_code(comparison: Comparison, fail_on_miss: str | None) -> int:
    """Returns the exit code of the comparison. Prints the reasons on standard error."""
    code, reasons = verdict(comparison, fail_on_miss)
    for reason in reasons:
        print(f"rclrt: {reason}", file=sys.stderr)
    return code
