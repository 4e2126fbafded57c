# SPDX-License-Identifier: Apache-2.0
"""The overheads of an analysis. Those of the command line come before those of the file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rclrt_py.bounds.machine import HOPS, STATISTICS, OverheadsFile, overheads_us
from rclrt_py.errors import BadInput
from rclrt_py.native import analysis
from rclrt_py.processes.middleware import middleware_in_use, stated_middleware

if TYPE_CHECKING:
    from rclrt_analysis import Machine
    from rclrt_model import Application


def add_file_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--overheads",
        metavar="FILE",
        type=Path,
        help="a file of rclrt calibrate with the machine's overheads, which the bounds include",
    )
    parser.add_argument(
        "--overhead-percentile",
        choices=STATISTICS,
        help=f"statistic of the overheads file to use, default {STATISTICS[0]}; a percentile makes "
        "verdicts conditional",
    )


def overheads_file(arguments: argparse.Namespace) -> OverheadsFile | None:
    """Loads the file of --overheads. None: the option was not given."""
    statistic = arguments.overhead_percentile
    if arguments.overheads is None:
        if statistic is not None:
            raise BadInput(
                f"--overhead-percentile {statistic}: there is no file of overheads; add "
                "--overheads FILE, with the file of rclrt calibrate"
            )
        return None
    return OverheadsFile(arguments.overheads, statistic or STATISTICS[0])


def overheads_file_of_runs(arguments: argparse.Namespace) -> OverheadsFile | None:
    """Loads the file of --overheads for runs in this environment. Throws BadInput if it was
    measured on another middleware."""
    file = overheads_file(arguments)
    if file is not None:
        require_middleware_of_runs(file)
    return file


def require_middleware_of_runs(file: OverheadsFile) -> None:
    file.require_middleware(
        middleware_in_use(os.environ),
        "on which the runs go (RMW_IMPLEMENTATION)"
        if stated_middleware(os.environ)
        else "on which the runs go, because RMW_IMPLEMENTATION is not set",
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_arguments(parser)
    parser.add_argument(
        "--hops",
        choices=HOPS,
        help="whether a message between executors stays within one process or goes "
        f"to another; default: {HOPS[1]} where the application states processes",
    )
    for name, what in (
        ("dispatch", "for each instance"),
        ("timer-jitter", "for each timer"),
        ("scheduler", "of a scheduler thread for each instance"),
        ("hop", "at most, for a message between executors"),
    ):
        parser.add_argument(
            f"--{name}-us", metavar="US", type=_microseconds, help=f"overhead {what}"
        )


BUSY_BACKGROUND = 0.1
"""A share of the CPU. A quiet machine's own background needs less."""
OPTIONS = (
    "overheads",
    "overhead_percentile",
    "hops",
    "dispatch_us",
    "timer_jitter_us",
    "scheduler_us",
    "hop_us",
)
"""Names of the parsed options. An option that was not given is None."""


def from_arguments(
    arguments: argparse.Namespace, executor: str, application: Application
) -> Machine:
    """Returns the machine for this executor. The command line replaces values of the file."""
    file = overheads_file(arguments)
    rmw = stated_middleware(os.environ)
    if file is not None and rmw is not None:
        file.require_middleware(rmw, "which RMW_IMPLEMENTATION selects")
    stated = analysis().StatedOverheads(
        dispatch_ns=arguments.dispatch_us,
        timer_jitter_ns=arguments.timer_jitter_us,
        scheduler_ns=arguments.scheduler_us,
        hop_ns=arguments.hop_us,
    )
    if file is not None:
        return file.machine(application, executor, arguments.hops, stated)
    if arguments.hops is not None:
        raise BadInput(
            "--hops: selects hop times of an overheads file; add --overheads FILE, with the file "
            "of rclrt calibrate"
        )
    machine: Machine = stated.machine()
    return machine


def notes(arguments: argparse.Namespace, machine: Machine) -> Iterator[str]:
    """Yields a hint if the background load in the overheads file takes so much of the CPU (above
    BUSY_BACKGROUND) that stalls of a virtual machine's host are the likely reason."""
    share = overheads_us(machine)["background_us"] / 1000
    statistic = arguments.overhead_percentile or STATISTICS[0]
    if arguments.overheads is not None and statistic == STATISTICS[0] and share > BUSY_BACKGROUND:
        yield (
            f"The background in {arguments.overheads} takes {share:.1%} of the CPU, by its maximum "
            f"in a millisecond. On a\nvirtual machine stalls of the host are part of that: "
            f"--overhead-percentile {STATISTICS[1]} leaves them out."
        )


def _microseconds(text: str) -> int:
    """Converts decimal microseconds to whole nanoseconds, rounded up, as a file of overheads has
    them."""
    time_ns: int | None = analysis().parse_microseconds(text)
    if time_ns is None:
        raise argparse.ArgumentTypeError(f"'{text}'; expected {analysis().MICROSECONDS}")
    return time_ns
