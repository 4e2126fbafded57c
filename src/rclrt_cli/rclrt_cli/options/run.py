# SPDX-License-Identifier: Apache-2.0
"""Options of the commands that run or simulate an application."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from rclrt_cli.errors import BadInput
from rclrt_cli.options import priorities

MAX_SECONDS = 24 * 3600.0
MIN_RUN_SECONDS = 0.01
ANY_CHAIN = ""
"""What --fail-on-miss is without the name of a chain."""


def seconds_argument(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= MAX_SECONDS:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a time; expected seconds above 0 and up to {MAX_SECONDS:.0f}"
        )
    return seconds


def check_run_seconds(seconds: float) -> None:
    """The shortest run that the runner measures."""
    if seconds < MIN_RUN_SECONDS:
        raise BadInput(
            f"--seconds: each run would last {seconds:g} s; expected at least {MIN_RUN_SECONDS:g} s"
        )


def add_application_argument(parser: argparse.ArgumentParser) -> None:
    """Adds APP and --priorities."""
    parser.add_argument("app", metavar="APP", type=Path, help="the application, an app.yaml")
    priorities.add_arguments(parser)


def add_fail_on_miss_argument(parser: argparse.ArgumentParser, which: str = "") -> None:
    """Adds --fail-on-miss; `which` says more about the misses that count."""
    parser.add_argument(
        "--fail-on-miss",
        metavar="CHAIN",
        nargs="?",
        const=ANY_CHAIN,
        help=f"exit with 1 when CHAIN (or any chain) missed a deadline{which}",
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what `run` and `compare` share."""
    add_application_argument(parser)
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="where results go")
    parser.add_argument(
        "--strict", action="store_true", help="fail when real-time scheduling is not permitted"
    )
    add_fail_on_miss_argument(
        parser,
        " that no stall of the machine explains; a comparison does not hold this against its "
        "baseline",
    )
