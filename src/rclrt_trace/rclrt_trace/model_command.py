# SPDX-License-Identifier: Apache-2.0
"""`rclrt model`: an app.yaml from what a robot was seen to do."""

from __future__ import annotations

import argparse
from pathlib import Path

from rclrt_cli.errors import EXIT_OK
from rclrt_cli.output_directory import check_file, write_atomically

from rclrt_trace.reader import read

HELP = "write an app.yaml from a trace: nodes, callbacks, topics, periods, observed times, chains"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trace", metavar="TRACE", type=Path, help="what rclrt trace record wrote")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, required=True)
    parser.add_argument("--name", metavar="NAME", help="default: that of the directory")


def run(arguments: argparse.Namespace) -> int:
    check_file("-o", arguments.output)
    options = [] if arguments.name is None else ["--name", arguments.name]
    write_atomically(arguments.output, read("model", arguments.trace, options))
    print(f"{arguments.output}\nrclrt analyze {arguments.output}")
    return EXIT_OK
