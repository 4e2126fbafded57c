# SPDX-License-Identifier: Apache-2.0
"""`rclrt verify`: generates applications, computes their verdicts, and searches for a response, a
reaction time or a data age that contradicts a verdict."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from rclrt_py.arguments import whole_number
from rclrt_py.bounds.machine import OverheadsFile
from rclrt_py.errors import EXIT_ABOVE_BOUND, EXIT_NO, EXIT_OK, BadInput
from rclrt_py.executors import EXECUTORS, OPTIONS_HELP, executor_argument
from rclrt_py.files.atomic import check_new_directory, new_directory
from rclrt_py.native import analysis
from rclrt_py.options.overheads import require_middleware_of_runs
from rclrt_py.processes.stop_signals import StopSignals

from rclrt_experiments.generator.app_yaml import app_yaml
from rclrt_experiments.generator.options import (
    add_rules_arguments,
    add_workload_arguments,
    count_argument,
    rules_of,
    workloads_of,
)
from rclrt_experiments.sweep import add_backend_arguments, backend_of
from rclrt_experiments.verification.again import AttackOf, search_again
from rclrt_experiments.verification.attacks import Attacked, attack_all
from rclrt_experiments.verification.live import run_live
from rclrt_experiments.verification.looseness import Loose
from rclrt_experiments.verification.summary import (
    json_of,
    print_tables,
    print_worst,
    row_of,
    worst_bounds,
)
from rclrt_experiments.verification.verify import Attack, attack_seed, violations
from rclrt_experiments.verification.violation import Violation

HELP = "generate applications and look for responses above their proved bounds"
MOST_CPUS = 16
MOST_HOSTS = 4
RUN_S = 2.0
DEFAULT_EXECUTORS = ("preemptive", "producer_consumer", "wait_set", "edf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_rules_arguments(parser)
    parser.add_argument(
        "--count",
        metavar="N",
        type=count_argument,
        default=1000,
        help="generate N applications, with this seed and the next N - 1 seeds; default 1000",
    )
    parser.add_argument(
        "--executors",
        metavar="NAMES",
        type=_executors_argument,
        default=list(DEFAULT_EXECUTORS),
        help=f"verify these executors, of {', '.join(EXECUTORS)}; separated by commas, default "
        f"{','.join(DEFAULT_EXECUTORS)}; {OPTIONS_HELP}",
    )
    parser.add_argument(
        "--cpus",
        metavar="M",
        type=whole_number("no number of CPUs for several", 2, MOST_CPUS),
        default=1,
        help="draw executors on two to M CPUs, of which each has some (one in five applications "
        f"states no CPUs); at most {MOST_CPUS}; default: one CPU for each executor",
    )
    parser.add_argument(
        "--hosts",
        metavar="H",
        type=whole_number("no number of several hosts", 2, MOST_HOSTS),
        default=1,
        help=f"draw executors on H hosts with links between them; at most {MOST_HOSTS}; default: "
        "one host",
    )
    _add_search_arguments(parser)
    _add_live_arguments(parser)
    _add_output_arguments(parser)
    add_workload_arguments(parser)


def _add_search_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--back-and-forth",
        action="store_true",
        help="draw one to three long chains that go back and forth between two or three CPUs, each "
        "of which is loaded as one CPU is otherwise",
    )
    parser.add_argument(
        "--waits",
        action="store_true",
        help="let callbacks wait without using the CPU (waits_ms)",
    )
    parser.add_argument(
        "--instances",
        metavar="N",
        type=count_argument,
        default=Attack.instances,
        help="number of instances to simulate for each application and executor; default "
        "%(default)s",
    )
    add_backend_arguments(parser)


def _add_output_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--out",
        metavar="DIR",
        type=Path,
        help="write the applications with a time above a bound to this directory",
    )
    parser.add_argument(
        "--worst",
        metavar="N",
        type=count_argument,
        default=0,
        help="also print the N bounds of each executor that are the furthest above the longest "
        "response, and the longest term of each",
    )
    parser.add_argument(
        "--again",
        metavar="N",
        type=count_argument,
        default=0,
        help="search a longer response of each of the bounds of --worst again, with N instances",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the results as JSON, in place of the tables"
    )


def _add_live_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--run",
        metavar="N",
        type=count_argument,
        default=0,
        help="also run, on ROS 2, the first N applications that fit the CPUs, under the first "
        "of the executors",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=_seconds_argument,
        help=f"duration of each run in seconds; default {RUN_S:g}",
    )
    parser.add_argument(
        "--overheads",
        metavar="FILE",
        type=Path,
        help="a file of rclrt calibrate with the overheads that the bounds of --run include",
    )


def run(arguments: argparse.Namespace) -> int:
    stated = any((arguments.rules, arguments.preset, arguments.rules_data))
    rules = rules_of(arguments)
    workloads = workloads_of(arguments)
    _check_live(arguments, bool(workloads))
    if arguments.again > 0 and arguments.worst == 0:
        raise BadInput("--again: it searches the bounds of --worst again; add --worst N")
    _check_cpus(arguments, stated)
    if arguments.out is not None:
        check_new_directory(arguments.out)
    seeds = range(rules.random_seed, rules.random_seed + arguments.count)
    started = time.monotonic()
    attack_of = partial(
        attack_seed,
        rules,
        vary=not stated,
        cpus=arguments.cpus,
        across=arguments.back_and_forth,
        hosts=arguments.hosts,
        waits=arguments.waits,
    )
    attack = partial(
        attack_of,
        executors=arguments.executors,
        attack=Attack(instances=arguments.instances),
    )
    with StopSignals() as stop:
        attacked = attack_all(backend_of(arguments), attack, seeds, lambda: stop.requested)
        worst, more = _worst(arguments, attacked, attack_of, lambda: stop.requested)
    elapsed = time.monotonic() - started
    found = [*violations(attacked.outcomes), *more]
    if arguments.out is not None and found:
        with new_directory(arguments.out) as directory:
            for number, violation in enumerate(found):
                _write(directory / f"violation{number}", violation)
    differing = _print(arguments, attacked, worst, found, seeds, elapsed)
    live = EXIT_OK
    if stop.requested:
        done = len(attacked.outcomes) + attacked.infeasible
        print(f"rclrt: stopped after {done} of {len(seeds)} applications", file=sys.stderr)
        live = stop.exit_code
    elif not attacked.outcomes:
        print(
            "rclrt: nothing was verified, because no application is feasible; expected a larger "
            "--count, another --seed, or rules with less load",
            file=sys.stderr,
        )
        live = EXIT_NO
    elif arguments.run > 0:
        live = run_live(
            rules, not stated, arguments.cpus, seeds, arguments.run, arguments.executors[0],
            arguments.seconds or RUN_S, arguments.overheads, workloads,
        )  # fmt: skip
    return EXIT_ABOVE_BOUND if found or differing else live


def _worst(
    arguments: argparse.Namespace,
    attacked: Attacked,
    attack_of: AttackOf,
    stopped: Callable[[], bool],
) -> tuple[dict[str, list[Loose]], list[Violation]]:
    """Returns the worst bounds of each executor, and the violations that a search of these finds
    again."""
    worst = {
        executor: worst_bounds(attacked.outcomes, executor, arguments.worst)
        for executor in (arguments.executors if arguments.worst else ())
    }
    if arguments.again == 0:
        return worst, []
    return search_again(backend_of(arguments), attack_of, worst, arguments.again, stopped)


def _print(
    arguments: argparse.Namespace,
    attacked: Attacked,
    worst: Mapping[str, Sequence[Loose]],
    found: Sequence[Violation],
    seeds: range,
    elapsed: float,
) -> list[str]:
    """Prints the results, and returns the differences of verdicts."""
    outcomes = attacked.outcomes
    rows = [row_of(executor, outcomes) for executor in arguments.executors]
    differing = [
        f"{executor}: {outcome.difference}"
        for each in outcomes
        for executor, outcome in each.items()
        if outcome.difference
    ]
    if arguments.json:
        counts = {
            "applications": len(outcomes),
            "infeasible": attacked.infeasible,
            "seeds": {"first": seeds[0], "last": seeds[-1]},
        }
        print(json.dumps(counts | json_of(rows, found, differing, worst), indent=1))
        return differing
    print(
        f"{len(outcomes)} applications, {attacked.infeasible} infeasible; seeds {seeds[0]} to "
        f"{seeds[-1]}, {elapsed:.0f} s"
    )
    print_tables(rows)
    for executor, bounds in worst.items():
        print_worst(executor, bounds)
    _say_all(found, differing, arguments.out)
    return differing


def _check_live(arguments: argparse.Namespace, with_workloads: bool) -> None:
    """Throws BadInput if --run contradicts another option, or is missing for one."""
    if arguments.run > 0:
        if arguments.json:
            raise BadInput("--json: expected no --run with it")
        if arguments.overheads is not None:
            require_middleware_of_runs(OverheadsFile(arguments.overheads))  # or it cannot be used
        return
    if with_workloads:
        raise BadInput("--workloads: only runs on ROS 2 use workloads; add --run N")
    for option in ("seconds", "overheads"):
        if getattr(arguments, option) is not None:
            raise BadInput(f"--{option}: has an effect only on runs on ROS 2; add --run N")


def _check_cpus(arguments: argparse.Namespace, stated: bool) -> None:
    """Throws BadInput if the options about CPUs contradict each other, or rules (`stated`)."""
    if arguments.cpus > 1 and stated:
        raise BadInput("--cpus: the rules state the CPUs (cpus, cpus_per_executor)")
    if arguments.hosts > 1 and (stated or arguments.run > 0):
        raise BadInput("--hosts: expected no rules (host_count) and no --run with it")
    if arguments.back_and_forth and (stated or arguments.cpus > 1 or arguments.run > 0):
        raise BadInput("--back-and-forth: expected no rules, no --cpus and no --run with it")


def _say_all(found: Sequence[Violation], differing: Sequence[str], out: Path | None) -> None:
    for difference in differing:
        print(f"verdicts of the command and the library differ under {difference}")
    for number, violation in enumerate(found):
        _say(number, violation)
    if found and out is not None:
        print(
            f"rclrt simulate {out}/violation0/app.yaml --replay "
            f"{out}/violation0/counter_example.yaml --out DIR"
        )


def _say(number: int, violation: Violation) -> None:
    took = "took" if violation.what == "response" else f"has a {violation.what} of"
    print(
        f"violation{number}: seed {violation.application.rules.random_seed} under "
        f"{violation.executor}: {violation.chain} {took} {violation.response_ns / 1e6:.9g} ms, and "
        f"its bound is {violation.bound_ns / 1e6:.9g} ms"
    )


def _write(directory: Path, violation: Violation) -> None:
    """Writes a violation. Its app.yaml has the bounds as deadlines and limits."""
    directory.mkdir()
    text = app_yaml(violation.application, violation.priorities)
    (directory / "app.yaml").write_text(text, encoding="utf-8")
    (directory / "counter_example.yaml").write_text(violation.counter_example, encoding="utf-8")


def _executors_argument(text: str) -> list[str]:
    names = list(dict.fromkeys(executor_argument(name) for name in text.split(",")))
    for name in names:
        if reason := analysis().why_no_bounds(name):
            raise argparse.ArgumentTypeError(f"executor '{name}': {reason}")
    return names


def _seconds_argument(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds; expected up to 3600")
    return seconds
