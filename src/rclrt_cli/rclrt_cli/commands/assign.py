# SPDX-License-Identifier: Apache-2.0
"""`rclrt assign`: callbacks to executors and CPUs with priorities, or priorities to tasks."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rclrt_py.analyses.assignment import (
    LAYOUTS,
    OBJECTIVES,
    UNITS,
    Assignment,
    TaskAssignment,
    assign_application,
    assign_tasks,
    usual_evaluations,
)
from rclrt_py.analyses.robot_file import robot_file
from rclrt_py.analyses.tasks import is_task_set, parse_tasks
from rclrt_py.arguments import whole_number
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput
from rclrt_py.executors import ASSIGNABLE, kind_of
from rclrt_py.files.atomic import STANDARD_OUTPUT, check_file, write_output
from rclrt_py.native import load_application, read_input
from rclrt_py.options import overheads, priorities
from rclrt_py.terminal.progress import Progress

from rclrt_cli.tables.assignment import chain_table, task_table

if TYPE_CHECKING:
    from rclrt_analysis import AssignProgress
    from rclrt_model import Application

HELP = "allocate callbacks to executors and CPUs and set priorities, for the bounds of the chains"
MOST_CORES = 64
ONLY_APPLICATIONS = (
    "cores",
    "cpus",
    "priorities",
    "method",
    "objective",
    "layout",
    "unit",
    "robot",
    "seed",
)
MOST_SEED = 99_999_999
DRAWN_EVERY_S = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="an app.yaml, or a task set")
    parser.add_argument(
        "--cores",
        metavar="N",
        type=whole_number("not a valid number", 1, MOST_CORES),
        help="use CPUs 0 to N-1; default: those of the file, or CPU 0 if it states none",
    )
    parser.add_argument(
        "--cpus", metavar="A,B,...", type=_cpus, help="use these CPUs; excludes --cores"
    )
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        type=Path,
        help="write the new app.yaml or task set to this file; - is the standard output",
    )
    parser.add_argument("--executor", choices=ASSIGNABLE, default="preemptive")
    parser.add_argument(
        "--robot",
        metavar="FILE",
        type=Path,
        help="write a robot.yaml for rclcpp nodes to this file, with all processes of the host if "
        "there are several; needs one executor for each process: --unit process",
    )
    _add_search_arguments(parser)
    overheads.add_arguments(parser)
    priorities.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def _add_search_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--layout",
        choices=LAYOUTS,
        help="the CPUs of the executors: as the file states them (stated), one each "
        "(partitioned), clusters with CPUs of their own (clusters), all (global); default any: the "
        "best of these",
    )
    parser.add_argument(
        "--unit",
        choices=UNITS,
        help="what has one executor: the members of a callback group, or a callback without one "
        "(group, default); the callbacks of a node (node) or of a process (process)",
    )
    parser.add_argument(
        "--method",
        choices=("search", "picas"),
        help="search for the best bounds, beginning with PiCAS's and other assignments "
        "(default); or take PiCAS's allocation and priorities unchanged (Choi, Xiang "
        "and Kim, RTAS 2021)",
    )
    parser.add_argument(
        "--objective",
        choices=tuple(OBJECTIVES),
        help="what to minimise after the number of chains without a proof: nothing more "
        "(feasible), the largest ratio of bound to deadline (max-slack, default), or "
        "the mean bound (min-response)",
    )
    parser.add_argument(
        "--evaluations",
        metavar="N",
        type=whole_number("not a valid number", 1, 10_000_000),
        help="how often the search may compute the bounds; default 2000, for more than 30 "
        "callbacks 60 000 divided by their number; Ctrl-C ends it, too",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=whole_number("not a valid number", 1, MOST_SEED),
        help="of the search; default 1",
    )


def run(arguments: argparse.Namespace) -> int:
    outputs = [arguments.out, arguments.robot]
    if outputs.count(STANDARD_OUTPUT) > 1:
        raise BadInput("-o - and --robot -: both write to the standard output; name a file")
    if arguments.out is not None and arguments.out == arguments.robot:
        raise BadInput(f"-o and --robot: both write to {arguments.out}; name two files")
    for option, path in (("-o", arguments.out), ("--robot", arguments.robot)):
        if path is not None and path != STANDARD_OUTPUT:
            inputs = [arguments.file, arguments.priorities, arguments.overheads]
            check_file(option, path, inputs)
    if arguments.json and arguments.out == STANDARD_OUTPUT:
        raise BadInput(
            "-o - and --json: both write to the standard output; leave out one of the two"
        )
    if arguments.json and arguments.robot == STANDARD_OUTPUT:
        raise BadInput(
            "--robot - and --json: both write to the standard output; leave out one of the two"
        )
    text = read_input(arguments.file)
    if is_task_set(text):
        for option in (*ONLY_APPLICATIONS, *overheads.OPTIONS):
            if getattr(arguments, option) is not None:
                name = option.replace("_", "-")
                raise BadInput(
                    f"--{name}: has no meaning for a task set, which is for one core; leave it out"
                )
        name = str(arguments.file)
        tasks, written = assign_tasks(parse_tasks(text, name), name)
        result: Assignment | TaskAssignment = tasks
        lines = task_table(tasks)
    else:
        chains, written, assigned = _assign_application(arguments)
        result = chains
        lines = chain_table(chains)
        if arguments.robot is not None:
            write_output(arguments.robot, robot_file(assigned, arguments.executor))
    if arguments.out is not None:
        write_output(arguments.out, written)
    if arguments.json:
        print(json.dumps(result, indent=1))
    elif STANDARD_OUTPUT not in outputs:
        for line in lines:
            print(line)
    if result.get("stopped"):
        print("rclrt: stopped; this is the best assignment so far", file=sys.stderr)
        return 128 + signal.SIGINT
    return EXIT_OK if result["feasible"] else EXIT_NO


def _how(arguments: argparse.Namespace) -> tuple[str, str]:
    """Returns the method, and the quantity that it optimises."""
    method = arguments.method or "search"
    if method == "picas" and arguments.objective is not None:
        raise BadInput("--objective: --method picas does not search; leave out one of the two")
    if method == "picas" and arguments.layout not in (None, "any", "partitioned"):
        raise BadInput(
            "--layout: --method picas gives each executor one CPU; expected 'partitioned'"
        )
    return method, arguments.objective or "max-slack"


def _unit(arguments: argparse.Namespace) -> str:
    unit: str = arguments.unit or ("group" if arguments.robot is None else "process")
    if arguments.robot is not None:
        if unit != "process":
            raise BadInput(
                f"--robot: a process of rclcpp nodes has one executor, but --unit {unit} may give "
                "it several; leave out --unit"
            )
        if not kind_of(arguments.executor).on_rclcpp:
            raise BadInput(
                f"--robot: the kind {arguments.executor} does not run rclcpp nodes; expected "
                "another --executor, such as preemptive"
            )
    return unit


def _assign_application(arguments: argparse.Namespace) -> tuple[Assignment, str, Application]:
    if arguments.cores is not None and arguments.cpus is not None:
        raise BadInput("--cores and --cpus: both state the CPUs; leave out one of the two")
    application = load_application(arguments.file, arguments.priorities)
    if application.hosts:
        raise BadInput(
            f"{arguments.file}: has hosts, and assign knows the CPUs of one; assign the part of "
            "each host as an application of its own"
        )
    machine = overheads.from_arguments(arguments, arguments.executor, application)
    method, objective = _how(arguments)
    unit = _unit(arguments)
    evaluations = arguments.evaluations or usual_evaluations(application)
    display = _Display(sys.stderr, evaluations)
    try:
        return assign_application(
            application,
            arguments.executor,
            machine,
            _cpus_to_use(arguments, application),
            method=method,
            objective=objective,
            evaluations=evaluations,
            layout=arguments.layout or "any",
            unit=unit,
            seed=arguments.seed or 1,
            on_progress=display.show if display.live else None,
            searched=display.clear,
        )
    finally:
        display.clear()


def _cpus_to_use(arguments: argparse.Namespace, application: Application) -> list[int]:
    if arguments.cpus is not None:
        return list(arguments.cpus)
    if arguments.cores is not None:
        return list(range(arguments.cores))
    stated = {cpu for executor in application.executors for cpu in executor.cpus}
    return sorted(stated) or [0]


class _Display:
    """The state of the search, on a terminal."""

    def __init__(self, stream: TextIO, evaluations: int) -> None:
        self._progress = Progress(stream, evaluations)
        self._next = 0.0
        self.live = self._progress.live

    def show(self, state: AssignProgress) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + DRAWN_EVERY_S
        best = state.best
        reached = f"{best.not_proved} not proved, bound / deadline {best.worst:.3g}"
        self._progress.show(
            state.evaluations, f"{state.evaluations} evaluations, {state.layout}: {reached}"
        )

    def clear(self) -> None:
        self._progress.clear()


def _cpus(text: str) -> list[int]:
    """Parses a list of distinct CPU numbers."""
    words = text.split(",")
    if not all(word.isascii() and word.isdigit() and len(word) < 5 for word in words):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of CPUs; expected one like 1,2,3")
    cpus = [int(word) for word in words]
    if len(set(cpus)) < len(cpus) or len(cpus) > MOST_CORES or max(cpus) > 1023:
        raise argparse.ArgumentTypeError(
            f"'{text}': expected up to {MOST_CORES} different CPUs from 0 to 1023"
        )
    return cpus
