# SPDX-License-Identifier: Apache-2.0
"""`rclrt assign`: nodes to cores and priorities to callbacks, or priorities to tasks."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from rclrt_py.analyses.assignment import (
    OBJECTIVES,
    Assignment,
    AssignmentQuality,
    TaskAssignment,
    assign_application,
    assign_tasks,
)
from rclrt_py.analyses.tasks import is_task_set, parse_tasks
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput
from rclrt_py.executors import ASSIGNABLE
from rclrt_py.files.atomic import STANDARD_OUTPUT, write_output
from rclrt_py.native import load_application, read_input
from rclrt_py.options import overheads, priorities
from rclrt_py.terminal.table import Columns
from rclrt_py.text import deadline, exact

from rclrt_cli.tables.chains import assumption_lines

HELP = "allocate nodes to cores and set priorities, for the bounds of the chains"
MOST_CORES = 64


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="an app.yaml, or a task set")
    parser.add_argument(
        "--cores", metavar="N", type=_count(MOST_CORES), help="use CPUs 0 to N-1; default 1"
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
    overheads.add_arguments(parser)
    parser.add_argument(
        "--evaluations",
        metavar="N",
        type=_count(10_000_000),
        default=2000,
        help="how often the search may compute the bounds; default 2000",
    )
    priorities.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(arguments: argparse.Namespace) -> int:
    if arguments.json and arguments.out == STANDARD_OUTPUT:
        raise BadInput(
            "-o - and --json: both write to the standard output; leave out one of the two"
        )
    text = read_input(arguments.file)
    if is_task_set(text):
        for option in ("cores", "cpus", "priorities", "method", "objective", *overheads.OPTIONS):
            if getattr(arguments, option) is not None:
                name = option.replace("_", "-")
                raise BadInput(
                    f"--{name}: has no meaning for a task set, which is for one core; leave it out"
                )
        name = str(arguments.file)
        tasks, written = assign_tasks(parse_tasks(text, name), name)
        result: Assignment | TaskAssignment = tasks
        lines = _task_table(tasks)
    else:
        chains, written = _assign_application(arguments)
        result = chains
        lines = _chain_table(chains)
    if arguments.out is not None:
        write_output(arguments.out, written)
    if arguments.json:
        print(json.dumps(result, indent=1))
    elif arguments.out != STANDARD_OUTPUT:
        for line in lines:
            print(line)
    return EXIT_OK if result["feasible"] else EXIT_NO


def _how(arguments: argparse.Namespace) -> tuple[str, str]:
    """Returns the method, and the quantity that it optimises."""
    method = arguments.method or "search"
    if method == "picas" and arguments.objective is not None:
        raise BadInput("--objective: --method picas does not search; leave out one of the two")
    return method, arguments.objective or "max-slack"


def _assign_application(arguments: argparse.Namespace) -> tuple[Assignment, str]:
    if arguments.cores is not None and arguments.cpus is not None:
        raise BadInput("--cores and --cpus: both state the CPUs; leave out one of the two")
    cpus = arguments.cpus or list(range(arguments.cores or 1))
    application = load_application(arguments.file, arguments.priorities)
    machine = overheads.from_arguments(arguments, arguments.executor, application)
    method, objective = _how(arguments)
    return assign_application(
        application,
        arguments.executor,
        machine,
        cpus,
        method=method,
        objective=objective,
        evaluations=arguments.evaluations,
    )


def _task_table(result: TaskAssignment) -> Iterator[str]:
    columns = Columns(8, left=0)
    for task in sorted(result["tasks"], key=lambda task: -task["priority"]):
        name = task["id"][:60].encode("unicode_escape").decode()
        yield columns.line(str(task["priority"]), f"  {name}")
    yield ""
    if result["schedulable"]:
        yield "schedulable: proved, by Audsley's algorithm"
    elif result["optimal"]:
        yield "schedulable: no; nor with any other priorities (Audsley's algorithm is optimal here)"
    else:
        yield "schedulable: not proved; Audsley's algorithm is not optimal for this set"


def _chain_table(result: Assignment) -> Iterator[str]:
    sampled = result.get("cause_effect_chains", [])
    names = [f"{chain['id']}, reaction" for chain in sampled]
    names += [chain["id"] for chain in result["chains"]]
    columns = Columns.named(["chain", *names], 13, 13, 13)
    yield columns.line("chain", "before ms", "after ms", "deadline ms", "  verdict")
    for chain in result["chains"]:
        bounds = (exact(chain["bound_ms_before"]), exact(chain["bound_ms"]))
        verdicts = f"  {chain['verdict_before']} -> {chain['verdict']}"
        yield columns.line(chain["id"], *bounds, deadline(chain["deadline_ms"]), verdicts)
        for assumption in chain["assumptions"]:
            yield columns.indent + f"  if {assumption}"
    for each in sampled:
        verdicts = f"  {each['verdict_before']} -> {each['verdict']}"
        reaction = (each["reaction_ms_before"], each["reaction_ms"], each["max_reaction_ms"])
        age = (each["age_ms_before"], each["age_ms"], each["max_age_ms"])
        yield columns.line(f"{each['id']}, reaction", *map(exact, reaction), verdicts)
        yield columns.line(f"{each['id']}, data age", *map(exact, age))
    yield ""
    for executor in result["executors"]:
        nodes = [node["id"] for node in result["nodes"] if node["executor"] == executor["name"]]
        yield f"{executor['name']} on CPU {executor['cpus'][0]}: {', '.join(nodes)}"
    yield (
        f"Optimised: {result['optimised']}: "
        f"{_reached(result['objective'], result['before'])} before, "
        f"{_reached(result['objective'], result['after'])} after, "
        f"in {result['evaluations']} evaluations from '{result['start']}'."
    )
    if result["optimal"]:
        yield "Independent callbacks on one core: Audsley's algorithm, which misses no solution."
    else:
        yield "A local search: there may be better ones."
    yield from assumption_lines(result["assumptions"], all_of_them=True)


def _reached(objective: str, quality: AssignmentQuality) -> str:
    if objective == "min-response":
        return f"{quality['not_proved']} and {quality['mean_bound_ms']:.6g} ms"
    return f"{quality['not_proved']} and {quality['worst_bound_by_deadline']:.3g}"


def _count(most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(f"'{text}' is not a valid number; expected 1 to {most}")

    return parse


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
