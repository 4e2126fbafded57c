# SPDX-License-Identifier: Apache-2.0
"""The output of one finished run of `run` and `simulate`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rclrt_py.files.atomic import write_atomically
from rclrt_py.runs.output_directory import REPORT, move_up

from rclrt_cli.bounds.comparing import add_to_results_file, bound_lines
from rclrt_cli.comparison import Comparison, load_single_run
from rclrt_cli.comparison_table import print_table
from rclrt_cli.hops import hop_lines
from rclrt_cli.measure import Measurement
from rclrt_cli.misses import miss_lines
from rclrt_cli.report.page import make_report


def finish(measurement: Measurement, made: Path, directory: Path) -> Comparison:
    """Moves the run into the directory of results and writes the report beside it."""
    move_up(made, directory)
    comparison = load_single_run(directory)
    if measurement.expected:
        add_to_results_file(directory, comparison.executors[0])
    write_atomically(directory / REPORT, make_report(comparison, directory))
    return comparison


def show(comparison: Comparison, directory: Path) -> None:
    """Prints the table, the bounds if there are any, and the reasons of the misses."""
    print_table(comparison, sys.stdout, os.environ)
    for line in bound_lines(comparison.executors):
        print(line)
    for line in [*miss_lines(directory), *hop_lines(comparison.executors[0])]:
        print(line)
