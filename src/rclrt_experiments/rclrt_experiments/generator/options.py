# SPDX-License-Identifier: Apache-2.0
"""The options that select the rules, for every verb that generates."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from rclrt_py.errors import BadInput
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.native import read_kind

from rclrt_experiments.generator.rules import PRESETS, Rules, read_rules
from rclrt_experiments.generator.workloads import STATISTICS, read_workloads


def add_rules_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rules",
        metavar="RULES",
        type=Path,
        nargs="?",
        help="a JSON file of rules for the generated applications; default: the bundled rules",
    )
    parser.add_argument("--preset", choices=sorted(PRESETS), help="start from these bundled rules")
    parser.add_argument(
        "--rules-data",
        metavar="JSON",
        help="rules as a JSON text; they replace those in the file or the preset",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=_seed_argument,
        help="seed of the random numbers, in place of random_seed in the rules",
    )


def add_workload_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workloads",
        metavar="FILE",
        type=Path,
        help="let callbacks run the workloads in this file (of rclrt workloads calibrate) "
        "instead of a busy loop, with as many iterations as fit into the execution "
        "time",
    )
    parser.add_argument(
        "--workload-time",
        choices=STATISTICS,
        help=f"statistic of a workload's time per iteration to use; default {STATISTICS[0]}",
    )


def workloads_of(arguments: argparse.Namespace) -> dict[str, int]:
    """Returns the time of one iteration of each workload in the file of --workloads, in
    nanoseconds. Empty: the option is not given, so callbacks use CPU time in a busy loop. Throws
    BadInput."""
    if arguments.workloads is None:
        if arguments.workload_time is not None:
            raise BadInput("--workload-time: means nothing without workloads; add --workloads FILE")
        return {}
    statistic = arguments.workload_time or STATISTICS[0]
    text = read_kind(arguments.workloads, "workloads")
    return read_workloads(JsonValue.parse(text, arguments.workloads), statistic)


def rules_of(arguments: argparse.Namespace) -> Rules:
    """Returns the rules of these options. Throws BadInput with the place."""
    rules = PRESETS[arguments.preset or "default"]
    if arguments.rules is not None:
        rules = read_rules(_document_of(arguments.rules), rules)
    if arguments.rules_data is not None:
        rules = read_rules(JsonValue.parse(arguments.rules_data, Path("--rules-data")), rules)
    return rules if arguments.seed is None else replace(rules, random_seed=arguments.seed)


def _document_of(file: Path) -> JsonValue:
    """Reads a file of rules. Throws BadInput if it is none, such as an application."""
    text = read_kind(file, "rules")
    try:
        return JsonValue.parse(text, file)
    except BadInput as error:
        raise BadInput(
            f"{error}\n  RULES states how applications are generated, as JSON, such as "
            '{"chain_count": 3}; leave it out for the bundled rules'
        ) from error


def _seed_argument(text: str) -> int:
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 19:
        return int(text)
    raise argparse.ArgumentTypeError(f"'{text}' is no seed; expected a whole number")


def count_argument(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= 1:
        return int(text)
    raise argparse.ArgumentTypeError(f"'{text}' is no count; expected a whole number from 1 on")
