# SPDX-License-Identifier: Apache-2.0
"""`rclrt analyze`: do the deadlines hold, by how much, and under which assumptions."""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

from rclrt_cli import chain_analysis, task_analysis
from rclrt_cli.analysis_module import analysis, read_input
from rclrt_cli.errors import EXIT_BAD_INPUT, EXIT_NO, EXIT_OK, BadInput
from rclrt_cli.measure import add_priorities_argument

HELP = "say whether the deadlines of an application or a task set hold"
TASKS = re.compile(rb"""(^|[{,])\s*["']?tasks["']?\s*:""", re.MULTILINE)
CALLBACKS = re.compile(rb"^callbacks\s*:", re.MULTILINE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="an app.yaml, or a task set (YAML, JSON)"
    )
    parser.add_argument(
        "--batch",
        metavar="FILE.jsonl",
        type=Path,
        help="one task set per line, and one result",
    )
    add_priorities_argument(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--test",
        choices=("sound", "thesis"),
        default="sound",
        help="of an application: safe bounds (default), or the thesis's two tests",
    )
    parser.add_argument(
        "--executor",
        choices=chain_analysis.EXECUTORS,
        default="preemptive",
        help="of --test sound",
    )
    for name, what in (("dispatch", "for each instance"), ("timer-jitter", "for each timer")):
        parser.add_argument(
            f"--{name}-us", metavar="US", type=_microseconds, default=0, help=f"overhead {what}"
        )


def run(arguments: argparse.Namespace) -> int:
    if (arguments.file is None) == (arguments.batch is None):
        raise BadInput("analyze: expected either FILE or --batch FILE.jsonl")
    if arguments.batch is not None:
        if arguments.priorities is not None:
            raise BadInput("--priorities: not for --batch; expected an app.yaml as the FILE")
        return _batch(arguments.batch)
    text = read_input(arguments.file)
    if TASKS.search(text) and not CALLBACKS.search(text):
        if arguments.priorities is not None:
            raise BadInput(
                "--priorities: a task set has no callbacks; expected an app.yaml as the FILE"
            )
        result = _analyse_tasks(text, str(arguments.file))
        lines = task_analysis.table
    else:
        result = _analyse_application(arguments)
        lines = chain_analysis.table
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        for line in lines(result):
            print(line)
    return EXIT_OK if result["feasible"] else EXIT_NO


def load_application(path: Path, priorities: Path | None = None) -> Any:
    """What rclrt_model makes of an app.yaml, with the priorities of a second file if given."""
    model = importlib.import_module("rclrt_model")
    try:
        return model.load(path, priorities)
    except model.ModelError as error:
        raise BadInput(str(error)) from error


def _analyse_application(arguments: argparse.Namespace) -> dict[str, Any]:
    analysis()  # says what is missing
    application = load_application(arguments.file, arguments.priorities)
    if arguments.test == "thesis":
        return chain_analysis.thesis(application)
    return chain_analysis.sound(
        application, arguments.executor, arguments.dispatch_us, arguments.timer_jitter_us
    )


def _analyse_tasks(text: bytes, name: str) -> dict[str, Any]:
    module = analysis()
    try:
        return task_analysis.analyse(module.parse_task_set(text, name))
    except module.FileError as error:
        raise BadInput(str(error)) from error


def _batch(path: Path) -> int:
    """A line that cannot be used does not keep the others from their answers."""
    code = EXIT_OK
    for number, line in enumerate(read_input(path).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            result = _analyse_tasks(line, f"{path}:{number}: in this line")
            if not result["schedulable"]:
                code = max(code, EXIT_NO)
        except BadInput as error:
            result = {"error": str(error)}
            print(f"rclrt: {error}", file=sys.stderr)
            code = EXIT_BAD_INPUT
        print(json.dumps({"line": number, **result}))
    return code


def _microseconds(text: str) -> int:
    """Decimal microseconds as whole nanoseconds."""
    if not re.fullmatch(r"\d{1,9}(\.\d{1,3})?", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a time; expected microseconds, like 2.5")
    whole, _, fraction = text.partition(".")
    return int(whole) * 1000 + int(fraction.ljust(3, "0"))
