# SPDX-License-Identifier: Apache-2.0
"""Values on the command line that several verbs accept."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

from rclrt_py.errors import BadInput

MAX_SECONDS = 24 * 3600.0
MIN_RUN_SECONDS = 0.01
MAX_COUNT = 100_000_000


def set_usage(parser: argparse.ArgumentParser, *forms: str) -> None:
    """Sets the usage of a command to several forms, one in each line. argparse shows an option as
    optional that is required only if another one is not given."""
    indent = " " * len("usage: ")
    parser.usage = f"\n{indent}".join(f"%(prog)s {form}" for form in forms)


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


def whole_number(what: str, least: int, most: int) -> Callable[[str], int]:
    """Returns the parser of an option. `what` is in its error, as in "'x' is no port"."""

    def parse(text: str) -> int:
        is_number = text.isascii() and text.isdigit()
        if is_number and len(text.lstrip("0")) <= len(str(most)) and least <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(f"'{text}' is {what}; expected {least} to {most}")

    return parse


count_argument = whole_number("not a number of instances", 1, MAX_COUNT)


def check_run_seconds(seconds: float) -> None:
    """Throws BadInput if a run is shorter than the shortest run that the runner measures."""
    if seconds < MIN_RUN_SECONDS:
        raise BadInput(
            f"--seconds: each run would last {seconds:g} s; expected at least {MIN_RUN_SECONDS:g} s"
        )
