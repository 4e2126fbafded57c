# SPDX-License-Identifier: Apache-2.0
"""`rclrt generate`: applications from rules."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rclrt_py.arguments import set_usage
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput
from rclrt_py.files.atomic import check_new_directory, new_directory
from rclrt_py.files.json_reader import JsonValue

from rclrt_experiments.generator.app_yaml import app_yaml
from rclrt_experiments.generator.application import GeneratedApplication
from rclrt_experiments.generator.feasibility import feasible_priorities
from rclrt_experiments.generator.graph import Kind
from rclrt_experiments.generator.options import (
    add_rules_arguments,
    add_workload_arguments,
    count_argument,
    rules_of,
    workloads_of,
)
from rclrt_experiments.generator.output import write_application
from rclrt_experiments.generator.package import CLIENTS
from rclrt_experiments.generator.rules import Rules
from rclrt_experiments.generator.timing import ChainTime, Infeasible, read_times
from rclrt_experiments.generator.workloads import draw_with_workloads

HELP = "make applications from rules: chains, callbacks, syncs, periods, utilisation"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    set_usage(parser, "RULES [options]", "--preset NAME [options]", "--rules-data JSON [options]")
    add_rules_arguments(parser)
    parser.add_argument(
        "--timing-data",
        metavar="FILE",
        type=Path,
        help="a JSON file with the period and CPU time of each chain in microseconds: "
        '[{"T": 20000, "C": 5000}, ...]',
    )
    add_workload_arguments(parser)
    parser.add_argument(
        "--count",
        metavar="N",
        type=count_argument,
        help="make N applications, with this seed and the next N - 1 seeds, each in a "
        "subdirectory of DIR",
    )
    parser.add_argument(
        "-o",
        "--out",
        metavar="DIR",
        type=Path,
        help="write app.yaml, the chain file, the rules and two pictures to this directory; "
        "without it, app.yaml is printed",
    )
    parser.add_argument(
        "--client",
        choices=CLIENTS,
        help="also make DIR a colcon package, with a program for each executor that uses "
        "this client library",
    )
    parser.add_argument(
        "--pictures",
        action="store_true",
        help="make the two pictures with --count, too; takes about 0.2 s per application",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.rules is None and arguments.preset is None and arguments.rules_data is None:
        raise BadInput("there are no rules; name a file of rules, or add --preset or --rules-data")
    if arguments.client is not None and arguments.out is None:
        raise BadInput("--client makes a package in a directory; add -o DIR")
    if arguments.out is not None:
        check_new_directory(arguments.out)
    elif arguments.count is not None:
        raise BadInput("--count makes several directories; add -o DIR")
    rules = rules_of(arguments)
    times = None
    if arguments.timing_data is not None:
        times = read_times(JsonValue.load(arguments.timing_data), rules)
    workloads = workloads_of(arguments)
    if arguments.count is not None:
        return _many(arguments, rules, times, workloads)
    try:
        application = draw_with_workloads(rules, workloads, times)
        priorities = feasible_priorities(application)
    except Infeasible as why:
        print(
            f"rclrt: {rules.name} of seed {rules.random_seed} is infeasible: {why}", file=sys.stderr
        )
        return EXIT_NO
    if arguments.out is None:
        print(app_yaml(application, priorities), end="")
        return EXIT_OK
    with new_directory(arguments.out) as directory:
        drawn = write_application(
            directory, application, priorities, with_pictures=True, client=arguments.client
        )
    print(_summary(application))
    if not drawn:
        print(
            "rclrt: pictures are written as .gv only: the program dot is missing; install graphviz",
            file=sys.stderr,
        )
    print(arguments.out / "app.yaml")
    return EXIT_OK


def _many(
    arguments: argparse.Namespace,
    rules: Rules,
    times: list[ChainTime] | None,
    workloads: Mapping[str, int],
) -> int:
    """Writes the feasible applications, and reports the others."""
    made = 0
    with new_directory(arguments.out) as directory:
        for seed in range(rules.random_seed, rules.random_seed + arguments.count):
            own = replace(rules, random_seed=seed)
            try:
                application = draw_with_workloads(own, workloads, times)
                priorities = feasible_priorities(application)
            except Infeasible as why:
                print(f"rclrt: seed {seed} is infeasible: {why}", file=sys.stderr)
                continue
            each = directory / f"seed{seed}"
            each.mkdir()
            write_application(
                *(each, application, priorities, arguments.pictures, arguments.client)
            )
            made += 1
        if made == 0:
            raise BadInput(
                f"none of {arguments.count} applications is feasible; nothing is written"
            )
    print(f"{made} of {arguments.count} applications in {arguments.out}")
    return EXIT_OK if made == arguments.count else EXIT_NO


def _summary(application: GeneratedApplication) -> str:
    kinds = list(application.graph.kinds.values())
    shared = sum(
        len(application.graph.chains_of(each)) > 1
        for each, kind in application.graph.kinds.items()
        if kind is not Kind.SYNC
    )
    return (
        f"{application.rules.name}: {len(application.graph.chains)} chains, "
        f"{len(kinds)} callbacks, {shared} of them shared, {kinds.count(Kind.SYNC)} syncs, "
        f"utilisation {application.load():.3f}; to run for {application.duration_us / 1e6:g} s"
    )
