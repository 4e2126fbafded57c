# SPDX-License-Identifier: Apache-2.0
"""`rclrt synthesize`: callback priorities from chain priorities, each with its reason."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput
from rclrt_py.files.atomic import STANDARD_OUTPUT, write_output
from rclrt_py.native import analysis, load_application

from rclrt_cli.chain_analysis import HOLDS
from rclrt_cli.node_priorities import ReasonedPriority, node_priorities

if TYPE_CHECKING:
    from rclrt_model import Application

HELP = "give every callback a priority that suits the chains it is on"
SOURCES = ("given", "rate", "deadline", "picas")

# `from` is a keyword.
MergedLevel = TypedDict("MergedLevel", {"executor": str, "from": int, "into": int})


class MergedChain(TypedDict):
    """The effect of merged levels on the bound of one chain."""

    id: str
    bound_ms_before: float | None
    bound_ms: float | None
    deadline_ms: float
    verdict_before: str
    verdict: str
    lost: bool


class Levels(TypedDict):
    """The levels that were merged, and the cost of it."""

    most: int
    merged: list[MergedLevel]
    chains: list[MergedChain]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("app", metavar="APP", type=Path, help="an app.yaml")
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        type=Path,
        help="write the priorities there; - is the standard output",
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=SOURCES,
        default="given",
        help="where the priorities of the chains come from: the file (default), their rates, their "
        "deadlines, or PiCAS's rules",
    )
    parser.add_argument(
        "--levels",
        metavar="N",
        type=_levels_argument,
        help="at most N priorities per executor, merging neighbours where it costs least; default "
        "94, what SCHED_FIFO has room for",
    )
    parser.add_argument(
        "--nodes",
        action="store_true",
        help="write them by node, timer and topic, as executors for rclcpp nodes read them",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of YAML")


def run(arguments: argparse.Namespace) -> int:
    if arguments.json and arguments.out == STANDARD_OUTPUT:
        raise BadInput("-o - and --json: both write to the standard output; expected one of them")
    module = analysis()
    application = load_application(arguments.app)
    most = arguments.levels or module.MAPPABLE_LEVELS
    found = module.synthesize_priorities(application, arguments.source)
    wished = [priority for priority, _ in found]
    priorities, merged = module.compress_levels(application, wished, most)
    callbacks: list[ReasonedPriority] = [
        {"id": callback.id, "priority": priority, "reason": _reason(before, priority, reason)}
        for callback, priority, (before, reason) in zip(
            application.callbacks, priorities, found, strict=True
        )
    ]
    levels: Levels = {
        "most": most,
        "merged": [
            {"executor": application.executors[index].name, "from": low, "into": high}
            for index, low, high in merged
        ],
        "chains": _compare_bounds(application, wished, priorities) if merged else [],
    }
    if arguments.nodes:
        text = node_priorities(application, callbacks)
    else:
        text = overlay(application.name, callbacks, levels)
    if arguments.out is not None:
        write_output(arguments.out, text)
    if arguments.json:
        document = {"application": application.name, "callbacks": callbacks, "levels": levels}
        print(json.dumps(document, indent=1))
    elif arguments.out is None:
        print(text, end="")
    lost = [chain["id"] for chain in levels["chains"] if chain["lost"]]
    for chain in lost:
        print(
            f"rclrt: merging levels cost chain {chain} the proof of its deadline", file=sys.stderr
        )
    return EXIT_NO if lost else EXIT_OK


def _levels_argument(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 8 and int(text) >= 1:
        return int(text)
    raise argparse.ArgumentTypeError(f"'{text}' is not a number of levels; expected 1 or more")


def _reason(wished: int, priority: int, reason: str) -> str:
    return reason if wished == priority else f"{reason}; level {wished} merged into {priority}"


def _compare_bounds(
    application: Application, before: list[int], after: tuple[int, ...]
) -> list[MergedChain]:
    """Returns the effect of the merging on the chains' bounds, under `preemptive`."""
    module = analysis()
    first, second = (
        module.chain_bounds(module.with_priorities(application, priorities))
        for priorities in (before, after)
    )
    return [
        {
            "id": chain.id,
            "bound_ms_before": _ms(old.bound_ns),
            "bound_ms": _ms(new.bound_ns),
            "deadline_ms": chain.deadline_ns / 1e6,
            "verdict_before": old.verdict,
            "verdict": new.verdict,
            "lost": old.verdict in HOLDS and new.verdict not in HOLDS,
        }
        for chain, old, new in zip(application.chains, first, second, strict=True)
    ]


def _ms(time_ns: int | None) -> float | None:
    return None if time_ns is None else time_ns / 1e6


def overlay(name: str, callbacks: list[ReasonedPriority], levels: Levels) -> str:
    """Returns the priorities as YAML, one callback per line with its reason."""
    lines = [f"rclrt: 1\napplication: {name}\n"]
    if levels["merged"]:
        lines.append(f"# merged to have at most {levels['most']} levels per executor:\n")
        lines += [
            f"#   {item['executor']}: {item['from']} into {item['into']}\n"
            for item in levels["merged"]
        ]
        for chain in levels["chains"]:
            was, now = (
                "none" if bound is None else f"{bound:.9g} ms"
                for bound in (chain["bound_ms_before"], chain["bound_ms"])
            )
            lines.append(f"# bound of {chain['id']}: {was} before, {now} after\n")
    lines.append("priorities:\n")
    lines += [f"  {item['id']}: {item['priority']}  # {item['reason']}\n" for item in callbacks]
    return "".join(lines)
