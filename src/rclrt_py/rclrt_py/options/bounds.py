# SPDX-License-Identifier: Apache-2.0
"""Options that compare observations with the bounds of the analysis."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from rclrt_py.bounds.expected import Expected
from rclrt_py.native import load_application
from rclrt_py.options import overheads


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bounds",
        action="store_true",
        help="compute response-time bounds and compare the observations with them; the exit code "
        "is 3 if an observation is above a proved bound and no stall of the machine explains it",
    )
    overheads.add_file_arguments(parser)


def expected_of(arguments: argparse.Namespace, executors: Sequence[str]) -> Expected | None:
    """Returns the bounds that --bounds or --overheads requests."""
    file = overheads.overheads_file_of_runs(arguments)
    if not arguments.bounds and file is None:
        return None
    application = load_application(arguments.app, arguments.priorities)
    return Expected.of(application, executors, file)
