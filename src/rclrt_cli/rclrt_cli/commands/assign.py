# SPDX-License-Identifier: Apache-2.0
"""`rclrt assign`: nodes to cores and priorities to callbacks, or priorities to tasks."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput
from rclrt_py.executors import WITH_LEVELS
from rclrt_py.files.atomic import STANDARD_OUTPUT, write_output
from rclrt_py.native import analysis, load_application, model, read_input
from rclrt_py.terminal.table import Columns

from rclrt_cli import chain_analysis
from rclrt_cli.commands.analyze import is_task_set
from rclrt_cli.options import overheads, priorities
from rclrt_cli.refutation import refute_chains

if TYPE_CHECKING:
    from rclrt_analysis import Machine, Quality, TaskFile
    from rclrt_model import Application

HELP = "allocate nodes to cores and set priorities, for the bounds of the chains"
OBJECTIVES = {
    "max-slack": "the fewest chains without a proof, then the least of the largest bound / "
    "deadline",
    "feasible": "the first assignment that was found with a proof for every chain; until then the "
    "fewest without, then the least of the largest bound / deadline",
    "min-response": "the fewest chains without a proof, then the least mean of the bounds",
}
NOTHING_OPTIMISED = "nothing: as PiCAS has it"
MOST_CORES = 64


class AssignmentQuality(TypedDict):
    """The criteria by which an assignment is judged."""

    not_proved: int
    worst_bound_by_deadline: float
    mean_bound_by_deadline: float
    mean_bound_ms: float


class ChainChange(TypedDict):
    """The effect of an assignment on one chain."""

    id: str
    deadline_ms: float
    bound_ms_before: float | None
    verdict_before: str
    bound_ms: float | None
    verdict: str
    assumptions: list[str]


class NodePlace(TypedDict):
    """The executor that an assignment gives to a node."""

    id: str
    executor: str


class ExecutorPlace(TypedDict):
    """The CPUs that an assignment gives to an executor."""

    name: str
    cpus: list[int]


class Assignment(TypedDict):
    """The document that `rclrt assign APP --json` prints."""

    application: str
    executor: str
    method: str
    objective: str
    optimised: str
    start: str
    evaluations: int
    optimal: bool
    feasible: bool
    overheads: dict[str, float]
    assumptions: list[chain_analysis.Assumption]
    before: AssignmentQuality
    after: AssignmentQuality
    chains: list[ChainChange]
    nodes: list[NodePlace]
    executors: list[ExecutorPlace]
    callbacks: list[chain_analysis.CallbackPriority]


class TaskAssignment(TypedDict):
    """The document that `rclrt assign` prints for a task set with `--json`."""

    policy: str
    feasible: bool
    schedulable: bool
    optimal: bool
    tasks: list[chain_analysis.CallbackPriority]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="an app.yaml, or a task set")
    parser.add_argument(
        "--cores", metavar="N", type=_count(MOST_CORES), help="CPUs 0 to N-1; default 1"
    )
    parser.add_argument("--cpus", metavar="A,B,...", type=_cpus, help="these CPUs instead")
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        type=Path,
        help="write the new app.yaml or task set there; - is the standard output",
    )
    parser.add_argument("--executor", choices=(*WITH_LEVELS, "picas"), default="preemptive")
    parser.add_argument(
        "--method",
        choices=("search", "picas"),
        help="search over the bounds, from PiCAS's and other assignments on (default); or PiCAS's "
        "allocation and priorities as they are (Choi, Xiang and Kim, RTAS 2021)",
    )
    parser.add_argument(
        "--objective",
        choices=tuple(OBJECTIVES),
        help="after the fewest chains without a proof: no further (feasible), the least of the "
        "largest bound / deadline (max-slack, default), or the least mean bound (min-response)",
    )
    overheads.add_arguments(parser)
    parser.add_argument(
        "--evaluations",
        metavar="N",
        type=_count(10_000_000),
        default=2000,
        help="how often the bounds may be computed; default 2000",
    )
    priorities.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(arguments: argparse.Namespace) -> int:
    if arguments.json and arguments.out == STANDARD_OUTPUT:
        raise BadInput("-o - and --json: both write to the standard output; expected one of them")
    text = read_input(arguments.file)
    if is_task_set(text):
        for option in ("cores", "cpus", "priorities", "method", "objective", *overheads.OPTIONS):
            if getattr(arguments, option) is not None:
                name = option.replace("_", "-")
                raise BadInput(f"--{name}: of an application; a task set is for one core")
        tasks, written = _assign_tasks(text, str(arguments.file))
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
        raise BadInput("--objective: of the search; expected it without --method picas")
    return method, arguments.objective or "max-slack"


def _assign_application(arguments: argparse.Namespace) -> tuple[Assignment, str]:
    if arguments.cores is not None and arguments.cpus is not None:
        raise BadInput("--cores and --cpus: expected one of them")
    cpus = arguments.cpus or list(range(arguments.cores or 1))
    module = analysis()
    application = load_application(arguments.file, arguments.priorities)
    machine = overheads.from_arguments(arguments, arguments.executor, application)
    method, objective = _how(arguments)
    found = module.assign(
        application,
        cpus,
        arguments.executor,
        overheads=machine.overheads,
        method=method,
        objective=objective,
        evaluations=arguments.evaluations,
    )
    made = found.application
    before = _analysed(application, arguments.executor, machine)
    after = _analysed(made, arguments.executor, machine)
    result: Assignment = {
        "application": application.name,
        "executor": arguments.executor,
        "method": method,
        "objective": objective,
        "optimised": OBJECTIVES[objective] if method == "search" else NOTHING_OPTIMISED,
        "start": found.start,
        "evaluations": found.evaluations,
        "optimal": found.optimal,
        "feasible": after["feasible"],
        "overheads": after["overheads"],
        "assumptions": after["assumptions"],
        "before": _quality(found.before),
        "after": _quality(found.after),
        "chains": [
            {
                "id": new["id"],
                "deadline_ms": new["deadline_ms"],
                "bound_ms_before": old["bound_ms"],
                "verdict_before": old["verdict"],
                "bound_ms": new["bound_ms"],
                "verdict": new["verdict"],
                "assumptions": new["assumptions"],
            }
            for old, new in zip(before["chains"], after["chains"], strict=True)
        ],
        "nodes": [
            {"id": node.name, "executor": made.executors[node.executor].name} for node in made.nodes
        ],
        "executors": [
            {"name": executor.name, "cpus": list(executor.cpus)} for executor in made.executors
        ],
        "callbacks": [
            {"id": callback.id, "priority": made.effective_priority(index)}
            for index, callback in enumerate(made.callbacks)
        ],
    }
    text: str = model().to_yaml(made)
    return result, f"# Executors and priorities by rclrt assign.\n{text}"


def _analysed(application: Application, executor: str, machine: Machine) -> chain_analysis.Analysis:
    """Returns the result of `rclrt analyze` for the application."""
    result = chain_analysis.sound(application, executor, machine)
    refute_chains(application, result, machine)
    return result


def _quality(quality: Quality) -> AssignmentQuality:
    return {
        "not_proved": quality.not_proved,
        "worst_bound_by_deadline": quality.worst,
        "mean_bound_by_deadline": quality.mean,
        "mean_bound_ms": quality.mean_bound_ns / 1e6,
    }


def _assign_tasks(text: bytes, name: str) -> tuple[TaskAssignment, str]:
    module = analysis()
    try:
        file = module.parse_task_set(text, name)
    except module.FileError as error:
        raise BadInput(str(error)) from error
    try:
        found = module.assign_priorities(file.tasks, file.policy)
    except ValueError as error:
        raise BadInput(f"{name}: {error}") from error
    tasks: list[chain_analysis.CallbackPriority] = [
        {"id": task.id, "priority": priority}
        for task, priority in zip(file.tasks, found.priorities, strict=True)
    ]
    result: TaskAssignment = {
        "policy": file.policy,
        "feasible": found.schedulable,
        "schedulable": found.schedulable,
        "optimal": found.optimal,
        "tasks": tasks,
    }
    return result, _task_file(file, found.priorities)


def _task_file(file: TaskFile, priorities: list[int]) -> str:
    """Returns the text of the task set with these priorities."""
    module = analysis()
    lines = ["# Priorities by rclrt assign.", "rclrt: 1", f"policy: {file.policy}", "tasks:"]
    keys = {
        "c": "wcet",
        "t": "period",
        "d": "deadline",
        "j": "jitter",
        "b": "blocking",
        "suspension": "suspension",
        "region": "region",
    }
    for task, priority in zip(file.tasks, priorities, strict=True):
        times = {key: getattr(task, name) for key, name in keys.items()}
        shown = ", ".join(
            f"{key}: {module.in_units(value, file.decimals)}"
            for key, value in times.items()
            if value or key in ("c", "t", "d")
        )
        lines.append(f"  - {{id: {_quoted(task.id)}, {shown}, priority: {priority}}}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Returns the text in YAML's double quotes, with unprintable characters escaped."""

    def escaped(character: str) -> str:
        if character in '"\\':
            return "\\" + character
        return character if character.isprintable() else f"\\U{ord(character):08X}"

    return '"' + "".join(map(escaped, text)) + '"'


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
    names = (chain["id"] for chain in result["chains"])
    columns = Columns.named(["chain", *names], 13, 13, 13)
    yield columns.line("chain", "before ms", "after ms", "deadline ms", "  verdict")
    for chain in result["chains"]:
        bounds = (chain["bound_ms_before"], chain["bound_ms"], chain["deadline_ms"])
        cells = ("-" if bound is None else f"{bound:.9g}" for bound in bounds)
        verdicts = f"  {chain['verdict_before']} -> {chain['verdict']}"
        yield columns.line(chain["id"], *cells, verdicts)
        for assumption in chain["assumptions"]:
            yield columns.indent + f"  if {assumption}"
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
    yield from chain_analysis.assumption_lines(result["assumptions"], all_of_them=True)


def _reached(objective: str, quality: AssignmentQuality) -> str:
    if objective == "min-response":
        return f"{quality['not_proved']} and {quality['mean_bound_ms']:.6g} ms"
    return f"{quality['not_proved']} and {quality['worst_bound_by_deadline']:.3g}"


def _count(most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(f"'{text}' is no number here; expected 1 to {most}")

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
