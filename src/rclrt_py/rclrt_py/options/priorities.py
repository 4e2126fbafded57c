# SPDX-License-Identifier: Apache-2.0
"""The option --priorities."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--priorities",
        metavar="FILE",
        type=Path,
        help="a file of rclrt synthesize -o with priorities that replace the application's",
    )
