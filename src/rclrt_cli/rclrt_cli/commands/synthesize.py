# SPDX-License-Identifier: Apache-2.0
"""`rclrt synthesize`: callback priorities from chain priorities or bounds, each with its reason."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rclrt_py.analyses.node_priorities import events_of, node_priorities
from rclrt_py.analyses.synthesis import EVALUATIONS, SOURCES, of_bounds, overlay, synthesize
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput
from rclrt_py.executors import ASSIGNABLE
from rclrt_py.files.atomic import STANDARD_OUTPUT, check_output, write_output
from rclrt_py.native import load_application
from rclrt_py.options import overheads

HELP = "give every callback a priority that suits the chains it is on"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("app", metavar="APP", type=Path, help="an app.yaml")
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        type=Path,
        help="write the priorities to this file; - is the standard output",
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=SOURCES,
        help="where the priorities of the chains come from: the file, their rates, their "
        "deadlines, PiCAS's rules, or their bounds (Audsley's algorithm, then a search); default: "
        "the file, or the bounds where only these prove all deadlines",
    )
    parser.add_argument(
        "--executor",
        choices=ASSIGNABLE,
        default="preemptive",
        help="the executor of the bounds; default preemptive",
    )
    overheads.add_arguments(parser)
    parser.add_argument(
        "--evaluations",
        metavar="N",
        type=_count_argument,
        default=EVALUATIONS,
        help=f"how often bounds may be computed to find priorities; default {EVALUATIONS}",
    )
    parser.add_argument(
        "--levels",
        metavar="N",
        type=_levels_argument,
        help="use at most N priorities per executor: merge neighbouring ones where bounds rise "
        "least; default 94, the number that SCHED_FIFO has room for",
    )
    parser.add_argument(
        "--nodes",
        action="store_true",
        help="write the priorities by node, timer and topic, as executors for rclcpp nodes "
        "read them",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of YAML")


def run(arguments: argparse.Namespace) -> int:
    if arguments.json and arguments.out == STANDARD_OUTPUT:
        raise BadInput(
            "-o - and --json: both write to the standard output; leave out one of the two"
        )
    if arguments.out is not None:
        check_output("-o", arguments.out, [arguments.app, arguments.overheads])
    application = load_application(arguments.app)
    machine = overheads.from_arguments(arguments, arguments.executor, application)
    synthesis = synthesize(
        application,
        arguments.source,
        arguments.levels,
        executor=arguments.executor,
        overheads=machine.overheads,
        evaluations=arguments.evaluations,
    )
    if arguments.nodes:
        text = node_priorities(application, synthesis["callbacks"])
    else:
        text = overlay(synthesis)
    if arguments.out is not None:
        write_output(arguments.out, text)
    if arguments.json:
        print(json.dumps(synthesis, indent=1))
    elif arguments.out is None:
        print(text, end="")
    events = events_of(application) if arguments.nodes else []
    if events:
        print(
            f"rclrt: no entry for {len(events)} {'event' if len(events) == 1 else 'events'} "
            f"({', '.join(events)}): add one for the subscription, service or waitable that "
            "receives each",
            file=sys.stderr,
        )
    bounds = synthesis.get("bounds")
    if bounds is not None and not bounds["feasible"]:
        for line in of_bounds(bounds):
            print(f"rclrt: {line}", file=sys.stderr)
    elif bounds is not None and arguments.source is None:
        print(
            "rclrt: the priorities of the file do not prove all deadlines; these, by the bounds, "
            "do (--from given: those of the file)",
            file=sys.stderr,
        )
    lost = [chain["id"] for chain in synthesis["levels"]["chains"] if chain["lost"]]
    for chain in lost:
        print(
            f"rclrt: the deadline of chain {chain} is not proved after merging priorities",
            file=sys.stderr,
        )
    return EXIT_NO if lost or (bounds is not None and not bounds["feasible"]) else EXIT_OK


def _levels_argument(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 8 and int(text) >= 1:
        return int(text)
    raise argparse.ArgumentTypeError(f"'{text}' is not a number of levels; expected 1 or more")


def _count_argument(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 9 and int(text) >= 1:
        return int(text)
    raise argparse.ArgumentTypeError(f"'{text}' is not a number of evaluations; expected 1 or more")
