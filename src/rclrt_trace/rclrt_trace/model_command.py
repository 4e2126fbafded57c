# SPDX-License-Identifier: Apache-2.0
"""`rclrt model`: makes an app.yaml from a trace or a recording of a robot."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from rclrt_py.errors import EXIT_OK, BadInput
from rclrt_py.files.atomic import check_file, write_atomically
from rclrt_py.native import load_application, model
from rclrt_py.runs.run_data import MODEL, RESULTS

from rclrt_trace.reader import add_host_arguments, host_options, read

HELP = "write an app.yaml from a trace or a run, with the execution times that were observed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sources",
        metavar="FROM",
        type=Path,
        nargs="+",
        help="directory that rclrt trace record, rclrt run or a recording of a robot wrote; give "
        "a trace of each host to join several",
    )
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, required=True)
    parser.add_argument(
        "--name",
        metavar="NAME",
        help="name of the application in the model of a trace; default: the name of its directory",
    )
    add_host_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    check_file("-o", arguments.output, [*arguments.sources, *arguments.clock])
    text = _model(arguments)
    write_atomically(arguments.output, text)
    stated = re.search(r"^# .*rclrt analyze FILE (--executor wait_set:threads=\d+)$", text, re.M)
    executor = f" {stated[1]}" if stated else ""
    print(arguments.output)
    for verb in ("plan", "analyze"):
        print(f"rclrt {verb} {arguments.output}{executor}")
    return EXIT_OK


def _model(arguments: argparse.Namespace) -> str:
    """Returns the text of the app.yaml."""
    sources: list[Path] = arguments.sources
    name: str | None = arguments.name
    runs = [source for source in sources if (source / RESULTS).is_file()]
    if not runs:
        options = [] if name is None else ["--name", name]
        return read("model", sources, [*options, *host_options(arguments)])
    source = runs[0]
    if len(sources) > 1:
        raise BadInput(f"{source}: a run; expected it alone, or the traces of several hosts")
    if name is not None or arguments.clock or arguments.drift is not None:
        raise BadInput(
            "--name, --clock and --drift are for a trace only; leave them out, a run has the name "
            "of its application"
        )
    if not (source / MODEL).is_file():
        raise BadInput(
            f"{source}: has no {MODEL}; expected a run that was measured, or one round of a "
            "comparison, as DIR/preemptive/round-1"
        )
    text: str = model().to_yaml(load_application(source / MODEL))
    return text
