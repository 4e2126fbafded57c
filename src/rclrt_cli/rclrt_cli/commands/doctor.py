# SPDX-License-Identifier: Apache-2.0
"""`rclrt doctor`: checks what this machine offers to a real-time program, and prints how to get
what is missing."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from pathlib import Path

from rclrt_py.doctor.checks import Finding, Level
from rclrt_py.doctor.examine import examine
from rclrt_py.doctor.fix_script import fix_script
from rclrt_py.doctor.login import this_login
from rclrt_py.errors import EXIT_NO, EXIT_OK
from rclrt_py.terminal.table import LINE_WIDTH, Columns, Paint
from rclrt_py.text import shorten

HELP = "say what this machine gives a real-time program"
DOCTOR_VERSION = 1
NAME_WIDTH = 20
_INDENT = " " * 9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print the findings as JSON")
    shape.add_argument(
        "--fix-script",
        action="store_true",
        help="print a shell script with the fixes that a script can make; nothing is changed",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.fix_script:
        print(fix_script(Path("/"), this_login()), end="")
        return EXIT_OK
    findings = examine(Path("/"), os.environ)
    blocked = any(finding.level is Level.BLOCKER for finding in findings)
    if arguments.json:
        document = {
            "rclrt_doctor": DOCTOR_VERSION,
            "blocked": blocked,
            "findings": [finding.to_json() for finding in findings],
        }
        print(json.dumps(document, indent=1))
    else:
        paint = Paint.of(sys.stdout, os.environ)
        for line in lines(findings, paint):
            print(line)
    return EXIT_NO if blocked else EXIT_OK


def lines(findings: list[Finding], paint: Paint) -> list[str]:
    colour = {Level.OK: paint.dim, Level.WARNING: paint.bold, Level.BLOCKER: paint.red}
    columns = Columns(len(_INDENT), NAME_WIDTH + 1, left=2)
    result = []
    for finding in findings:
        label = colour[finding.level](finding.level.value)
        result.append(columns.line(label, finding.name, shorten(finding.found, 88)))
        if finding.fix:
            fix = textwrap.wrap(f"fix: {finding.fix}", LINE_WIDTH - len(_INDENT) - NAME_WIDTH - 1)
            result += [_INDENT + " " * (NAME_WIDTH + 1) + line for line in fix]
    counts = {level: sum(finding.level is level for finding in findings) for level in Level}
    summary = (f"{count} {level.value}{plural(level, count)}" for level, count in counts.items())
    return [*result, "", ", ".join(summary)]


def plural(level: Level, count: int) -> str:
    return "" if level is Level.OK or count == 1 else "s"
