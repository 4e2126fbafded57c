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

from rclrt_trace.reader import read

HELP = "write an app.yaml from a trace or a run, with the execution times that were observed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        metavar="FROM",
        type=Path,
        help="directory that rclrt trace record, rclrt run or a recording of a robot wrote",
    )
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, required=True)
    parser.add_argument(
        "--name",
        metavar="NAME",
        help="name of the application in the model of a trace; default: the name of its directory",
    )


def run(arguments: argparse.Namespace) -> int:
    check_file("-o", arguments.output)
    text = _model(arguments.source, arguments.name)
    write_atomically(arguments.output, text)
    stated = re.search(r"^# .*rclrt analyze FILE (--executor wait_set:threads=\d+)$", text, re.M)
    executor = f" {stated[1]}" if stated else ""
    print(f"{arguments.output}\nrclrt analyze {arguments.output}{executor}")
    return EXIT_OK


def _model(source: Path, name: str | None) -> str:
    """Returns the text of the app.yaml."""
    if not (source / RESULTS).is_file():
        return read("model", source, [] if name is None else ["--name", name])
    if name is not None:
        raise BadInput(
            "--name is for a trace only; leave it out, a run has the name of its application"
        )
    if not (source / MODEL).is_file():
        raise BadInput(
            f"{source}: has no {MODEL}; expected a run that was measured, or one round of a "
            "comparison, as DIR/preemptive/round-1"
        )
    text: str = model().to_yaml(load_application(source / MODEL))
    return text
