# SPDX-License-Identifier: Apache-2.0
"""`rclrt report`: the table and report.html from a directory that run or compare wrote."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path

from rclrt_py.arguments import set_usage
from rclrt_py.comparisons.comparison import combine
from rclrt_py.comparisons.recorded import hold_against
from rclrt_py.errors import EXIT_OK, BadInput
from rclrt_py.files.atomic import check_file
from rclrt_py.options.overheads import add_file_arguments, overheads_file
from rclrt_py.report.callback_limits import limit_lines
from rclrt_py.report.writing import load_results, page_beside, settled, write_report

from rclrt_cli.printing import exit_code, print_comparison

HELP = "make the table and report.html again, from one results directory or several"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    set_usage(parser, "DIR [options]", "DIR DIR ... -o FILE")
    parser.add_argument(
        "directories",
        metavar="DIR",
        nargs="+",
        type=Path,
        help="directories that run, compare or simulate wrote; several are shown side by side",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="name of the page; default DIR/report.html, or DIR.html if the run goes on; "
        "required with several directories",
    )

    parser.add_argument(
        "--application",
        metavar="APP",
        type=Path,
        help="the app.yaml of a recorded run: the page compares the observations with its bounds",
    )
    add_file_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    directories: list[Path] = arguments.directories
    if arguments.application is None and arguments.overheads is not None:
        raise BadInput(
            "--overheads: needs an application to compute bounds of; add --application APP"
        )
    if arguments.application is not None and len(directories) > 1:
        raise BadInput("--application: works with one recorded run only; name one directory")
    overheads = overheads_file(arguments)
    if len(directories) > 1 and arguments.output is None:
        raise BadInput("report: several directories have no common place for the page; add -o FILE")
    if arguments.output is not None:
        inputs = [*directories, arguments.application, arguments.overheads]
        check_file("-o", arguments.output, inputs)
    with ExitStack() as stack:
        places = [stack.enter_context(settled(each)) for each in directories]
        directory, output = places[0], arguments.output
        if output is None and directory != directories[0]:
            output = page_beside(directories[0])
        if arguments.application is not None:
            load_results(directory)  # a directory that has none is refused as without bounds
            hold_against(directory, arguments.application, overheads)
        loaded = [load_results(*each) for each in zip(places, directories, strict=True)]
        comparison = combine(loaded) if len(loaded) > 1 else loaded[0]
        output = write_report(comparison, directory, output)
        print_comparison(comparison)
    for line in limit_lines(comparison.executors):
        print(line)
    print(f"\n{output}")
    return EXIT_OK if arguments.application is None else exit_code(comparison, None)
