# SPDX-License-Identifier: Apache-2.0
"""Options that compare observations with the bounds of the analysis."""

from __future__ import annotations

import argparse

from rclrt_cli.options import overheads


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bounds",
        action="store_true",
        help="put the analysis' bounds beside what is observed; an observation above a proved "
        "bound that no stall of the machine explains is exit code 3",
    )
    overheads.add_file_arguments(parser)
