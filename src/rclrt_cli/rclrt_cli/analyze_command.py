# SPDX-License-Identifier: Apache-2.0
"""`rclrt analyze`: do the deadlines hold, by how much, and under which assumptions."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rclrt_cli import task_analysis
from rclrt_cli.analysis_module import analysis, read_input
from rclrt_cli.errors import EXIT_BAD_INPUT, EXIT_NO, EXIT_OK, BadInput

HELP = "say whether the deadlines of a task set hold"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="a task set (YAML, JSON)"
    )
    parser.add_argument(
        "--batch",
        metavar="FILE.jsonl",
        type=Path,
        help="one task set per line, one result per line",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(arguments: argparse.Namespace) -> int:
    if (arguments.file is None) == (arguments.batch is None):
        raise BadInput("analyze: expected either FILE or --batch FILE.jsonl")
    if arguments.batch is not None:
        return _batch(arguments.batch)
    text = read_input(arguments.file)
    result = _analyse_tasks(text, str(arguments.file))
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        for line in task_analysis.table(result):
            print(line)
    return EXIT_OK if result["schedulable"] else EXIT_NO


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
