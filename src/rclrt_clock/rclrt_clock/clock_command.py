# SPDX-License-Identifier: Apache-2.0
"""`rclrt clock`: how far the clocks of the robot's hosts differ, as intervals."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rclrt_py.agents.connections import hosts_environment
from rclrt_py.arguments import MIN_RUN_SECONDS, seconds_argument
from rclrt_py.clocks.sources import ClockSource
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput, RclrtError
from rclrt_py.files.atomic import check_file, write_atomically
from rclrt_py.processes.runner import find_program
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.terminal.table import Paint

from rclrt_clock.offsets import Offsets
from rclrt_clock.plot import offsets_picture
from rclrt_clock.program import PACKAGE, lines_of
from rclrt_clock.table import lines
from rclrt_clock.view import Sources, View

HELP = "measure how far the clocks of the robot's hosts differ"
DESCRIPTION = (
    "Start it on each host. The hosts ping each other over ROS 2. The table shows the clock of "
    "each other host less the clock of this one, as an interval that contains the offset whatever "
    "the delays of the messages are. Press Ctrl-C to end. The exit code is 1 if no offset was "
    "measured."
)
VALUES = (
    ("host", "NAME", "name of this host (default: the name of the machine)"),
    ("drift", "PPM", "largest frequency error of each clock, in millionths (default: 50)"),
    ("period", "MS", "time between two pings (default: 200)"),
    ("topic", "NAME", "topic on which the hosts meet (default: /rclrt/clock)"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument(
        "--seconds",
        type=seconds_argument,
        metavar="S",
        help="end after this number of seconds (default: at Ctrl-C)",
    )
    for name, metavar, text in VALUES:
        parser.add_argument(f"--{name}", metavar=metavar, help=text)
    parser.add_argument("--json", action="store_true", help="print the result as JSON at the end")
    parser.add_argument(
        "--out", metavar="FILE", type=Path, help="write the intervals over time (JSON) to this file"
    )
    parser.add_argument(
        "--plot",
        metavar="FILE.svg",
        type=Path,
        help="write a picture of the intervals over time (SVG) to this file",
    )


def run(arguments: argparse.Namespace) -> int:
    for option in ("out", "plot"):
        if getattr(arguments, option):
            check_file(f"--{option}", getattr(arguments, option))
    if arguments.plot and arguments.plot.suffix.lower() != ".svg":
        raise BadInput(
            f"--plot {arguments.plot}: pictures are SVG; expected a name that ends with .svg"
        )
    if arguments.seconds is not None and arguments.seconds < MIN_RUN_SECONDS:
        raise BadInput(
            f"--seconds {arguments.seconds:g}: expected at least {MIN_RUN_SECONDS:g}; a few "
            "seconds give an offset"
        )
    if arguments.out and arguments.plot and arguments.out.resolve() == arguments.plot.resolve():
        raise BadInput("--out and --plot name the same file; expected two")
    command = [str(find_program(os.environ, PACKAGE, PACKAGE)), *program_options(arguments)]
    offsets = Offsets()
    failure: RclrtError | None = None
    with StopSignals() as stop, Sources() as sources:
        view = View(offsets, sources, is_live=sys.stdout.isatty() and not arguments.json)
        try:
            for text in lines_of(command, hosts_environment(os.environ), stop):
                view.take(offsets.take(text))
        except RclrtError as error:
            if not offsets.peers:
                raise
            failure = error  # what was measured until then is kept
    _finish(arguments, offsets, sources.known, failure)
    if failure is not None:
        raise failure
    if offsets.are_known:
        return EXIT_OK
    print(f"rclrt: no offset was measured; {_hint(offsets)}", file=sys.stderr)
    return EXIT_NO


def program_options(arguments: argparse.Namespace) -> list[str]:
    """Returns the program's own command line."""
    options: list[str] = []
    for name in (*(name for name, _, _ in VALUES), "seconds"):
        value = getattr(arguments, name)
        if value is not None:
            options += [f"--{name}", str(value)]
    return options


def _finish(
    arguments: argparse.Namespace,
    offsets: Offsets,
    sources: Sequence[ClockSource],
    failure: RclrtError | None,
) -> None:
    """Writes the files, then prints: standard output may be closed."""
    text = None if failure is None else str(failure)
    document = offsets.document(sources, text)
    if arguments.out:
        write_atomically(arguments.out, compact(document))
    if arguments.plot:
        write_atomically(arguments.plot, offsets_picture(offsets))
    if arguments.json:
        print(compact(document), end="")
    else:
        for line in lines(offsets, sources, Paint.of(sys.stdout, os.environ)):
            print(line)


def compact(document: dict[str, Any]) -> str:
    """Returns the document with a line per key and peer."""
    peers = ",\n  ".join(json.dumps(peer) for peer in document["peers"])
    rest = {key: value for key, value in document.items() if key != "peers"}
    parts = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in rest.items()]
    return "{\n" + ",\n".join([*parts, f' "peers": [{peers}]']) + "\n}\n"


def _hint(offsets: Offsets) -> str:
    if offsets.peers:
        return "the pings of this host are not answered: messages pass in one direction only"
    domain = os.environ.get("ROS_DOMAIN_ID", "0")
    if os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE") == "OFF":
        return "ROS_AUTOMATIC_DISCOVERY_RANGE=OFF: no other process is searched"
    return (
        "start `rclrt clock` on the other hosts too, in this ROS domain "
        f"(ROS_DOMAIN_ID={domain}); the network must pass its multicast"
    )
