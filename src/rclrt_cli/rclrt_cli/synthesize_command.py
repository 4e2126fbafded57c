# SPDX-License-Identifier: Apache-2.0
"""`rclrt synthesize`: callback priorities from chain priorities, each with its reason."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rclrt_cli.analysis_module import analysis
from rclrt_cli.analyze_command import load_application
from rclrt_cli.errors import EXIT_OK
from rclrt_cli.output_directory import write_atomically

HELP = "give every callback a priority that suits the chains it is on"
SOURCES = ("given", "rate_monotonic", "deadline_monotonic")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("app", metavar="APP", type=Path, help="an app.yaml")
    parser.add_argument("-o", "--out", metavar="FILE", type=Path, help="write the priorities there")
    parser.add_argument(
        "--from",
        dest="source",
        choices=SOURCES,
        default="given",
        help="where the priorities of the chains come from (default: the file)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of YAML")


def run(arguments: argparse.Namespace) -> int:
    module = analysis()
    application = load_application(arguments.app)
    found = module.synthesize_priorities(application, arguments.source)
    callbacks = [
        {"id": callback.id, "priority": priority, "reason": reason}
        for callback, (priority, reason) in zip(application.callbacks, found, strict=True)
    ]
    if arguments.out is not None:
        write_atomically(arguments.out, overlay(application.name, callbacks))
    if arguments.json:
        print(json.dumps({"application": application.name, "callbacks": callbacks}, indent=1))
    elif arguments.out is None:
        print(overlay(application.name, callbacks), end="")
    return EXIT_OK


def overlay(name: str, callbacks: list[dict[str, Any]]) -> str:
    """The priorities as YAML, one callback per line with its reason."""
    lines = [f"rclrt: 1\napplication: {name}\npriorities:\n"]
    lines += [f"  {item['id']}: {item['priority']}  # {item['reason']}\n" for item in callbacks]
    return "".join(lines)
