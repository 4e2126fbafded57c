# SPDX-License-Identifier: Apache-2.0
"""Values on the command line that several verbs accept."""

from __future__ import annotations

import argparse
import math

from rclrt_py.errors import BadInput

MAX_SECONDS = 24 * 3600.0
MIN_RUN_SECONDS = 0.01
MAX_COUNT = 100_000_000


def seconds_argument(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= MAX_SECONDS:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a time; expected a number of seconds above 0 and up to "
            f"{MAX_SECONDS:.0f}"
        )
    return seconds


def count_argument(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_COUNT:
        return int(text)
    raise argparse.ArgumentTypeError(
        f"'{text}' is not a number of instances; expected 1 to {MAX_COUNT}"
    )


def check_run_seconds(seconds: float) -> None:
    """Throws BadInput if a run is shorter than the shortest run that the runner measures."""
    if seconds < MIN_RUN_SECONDS:
        raise BadInput(
            f"--seconds: each run would last {seconds:g} s; expected at least {MIN_RUN_SECONDS:g} s"
        )
