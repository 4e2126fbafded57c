# SPDX-License-Identifier: Apache-2.0
"""`rclrt report`: the table and report.html from a directory that run or compare wrote."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rclrt_py.errors import EXIT_OK, BadInput
from rclrt_py.files.atomic import write_atomically
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.output_directory import REPORT, Plan
from rclrt_py.runs.run_data import RESULTS

from rclrt_cli.bounds.comparing import bound_lines
from rclrt_cli.callback_limits import limit_lines
from rclrt_cli.commands.compare import finish
from rclrt_cli.comparison import Comparison, combine, load_comparison, load_single_run
from rclrt_cli.comparison_table import print_table
from rclrt_cli.measure import verdict
from rclrt_cli.options.overheads import add_file_arguments, overheads_file
from rclrt_cli.recorded import hold_against
from rclrt_cli.report.page import make_report

HELP = "make the table and report.html again, from one results directory or several"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directories",
        metavar="DIR",
        nargs="+",
        type=Path,
        help="what run, compare or simulate wrote; several are shown side by side",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="default DIR/report.html; needed with several directories",
    )

    parser.add_argument(
        "--application",
        metavar="APP",
        type=Path,
        help="the app.yaml of a recorded run: its bounds are put beside what was observed",
    )
    add_file_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    directories: list[Path] = arguments.directories
    if arguments.application is None and arguments.overheads is not None:
        raise BadInput("--overheads: of which application? Name it with --application APP")
    if arguments.application is not None and len(directories) > 1:
        raise BadInput("--application: several directories; expected one that was recorded")
    overheads = overheads_file(arguments)
    if len(directories) > 1 and arguments.output is None:
        raise BadInput("report: several directories; expected -o FILE, where the report goes")
    directory = directories[0]
    comparison = load(directory)
    if arguments.application is not None:
        hold_against(directory, arguments.application, overheads)
        comparison = load(directory)
    if len(directories) > 1:
        comparison = combine([comparison, *(load(other) for other in directories[1:])])
    output: Path = arguments.output or directory / REPORT
    if output.is_dir():
        raise BadInput(f"-o {output}: is a directory; expected the name of a file")
    write_atomically(output, make_report(comparison, directory, output))
    print_table(comparison, sys.stdout, os.environ)
    for line in bound_lines(comparison.executors):
        print(line)
    for line in limit_lines(comparison.executors):
        print(line)
    print(f"\n{output}")
    return EXIT_OK if arguments.application is None else verdict(comparison, None)


def load(directory: Path) -> Comparison:
    """Loads the comparison or the run in the directory. The comparison may have been killed."""
    if not directory.is_dir():
        what = "is not a directory" if directory.exists() else "no such directory"
        raise BadInput(f"{directory}: {what}; expected one that rclrt run or compare wrote")
    if (directory / RESULTS).exists():
        json = JsonValue.load(directory / RESULTS)
        return (
            load_single_run(directory) if json.has("rclrt_results") else load_comparison(directory)
        )
    plan = Plan.load(directory)
    if plan is None or plan.kind != "comparison":
        raise BadInput(
            f"{directory}: has no {RESULTS}; expected a directory that rclrt run or compare wrote"
        )
    return finish(directory, plan)
