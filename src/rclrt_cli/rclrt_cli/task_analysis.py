# SPDX-License-Identifier: Apache-2.0
"""A task set's analysis as JSON and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

from rclrt_py.native import analysis
from rclrt_py.terminal.table import Columns

from rclrt_cli.sensitivity import SensitivityResult

if TYPE_CHECKING:
    from rclrt_analysis import Task, TaskFile

VERDICTS = {"yes": "proved", "no": "refuted", "unknown": "unknown"}
WIDTH = 12
FIXED_PRIORITY = ("fp_preemptive", "fp_nonpreemptive", "fp_limited_preemptive")
Number = int | float | None


class TaskMiss(TypedDict):
    """A schedule in which a task misses; times in the units of the file."""

    offsets: dict[str, Number]
    first_jitter: dict[str, Number]
    job: int
    arrival: Number
    response: Number


class TaskResult(TypedDict):
    """The verdict on one task; times in the units of the file."""

    id: str
    response: Number
    deadline: Number
    schedulable: bool
    verdict: str
    exact: bool
    note: str
    counter_example: NotRequired[TaskMiss]


class LoadTests(TypedDict, total=False):
    """The sufficient tests of preemptive fixed priorities. None: the test does not apply."""

    liu_layland_bound: float
    liu_layland: bool | None
    hyperbolic: bool | None


class TaskAnalysis(TypedDict):
    """The document that `rclrt analyze` prints for a task set with `--json`."""

    policy: str
    utilisation: float
    feasible: bool
    schedulable: bool
    verdict: str
    assumptions: list[str]
    tests: LoadTests
    tasks: list[TaskResult]
    sensitivity: NotRequired[SensitivityResult]


def number(ticks: int | None, decimals: int) -> Number:
    """Converts ticks to a number in the units of the file."""
    if ticks is None:
        return None
    text = analysis().in_units(ticks, decimals)
    return float(text) if "." in text else int(text)


def analyse(file: TaskFile) -> TaskAnalysis:
    """Returns the document of `--json`. `schedulable` is true if the deadline was proved to
    hold."""
    module = analysis()
    tasks = file.tasks
    found = module.analyse_tasks(tasks, file.policy)
    return {
        "policy": file.policy,
        "utilisation": module.utilisation(tasks),
        "feasible": found.schedulable == "yes",
        "schedulable": found.schedulable == "yes",
        "verdict": VERDICTS[found.schedulable],
        "assumptions": _assumptions(file),
        "tests": _load_tests(tasks) if file.policy == "fp_preemptive" else {},
        "tasks": [
            {
                "id": task.id,
                "response": number(result.response, file.decimals),
                "deadline": number(task.deadline, file.decimals),
                "schedulable": result.schedulable == "yes",
                "verdict": VERDICTS[result.schedulable],
                "exact": result.exact,
                "note": result.note,
            }
            for task, result in zip(tasks, found.tasks, strict=True)
        ],
    }


def _assumptions(file: TaskFile) -> list[str]:
    stated = ["one core that does nothing else; no overheads besides those in c, j and b"]
    stated.append("jobs arrive at least t apart, with any phase; c, j, b and suspension are limits")
    if file.policy in FIXED_PRIORITY:
        stated.append("tasks of one priority delay each other")
    if file.priorities_by_place and file.policy in FIXED_PRIORITY:
        stated.append("no priorities given: the first task is the most urgent")
    if file.rounded:
        stated.append("times were rounded to nine decimals: c, j, b up, t and d down")
    return stated


def _load_tests(tasks: Sequence[Task]) -> LoadTests:
    """Returns the sufficient tests. A test that does not apply is None."""
    module = analysis()
    plain = module.is_plain_rate_monotonic(tasks)
    return {
        "liu_layland_bound": module.liu_layland_bound(len(tasks)),
        "liu_layland": module.passes_liu_layland(tasks) if plain else None,
        "hyperbolic": module.passes_hyperbolic_bound(tasks) if plain else None,
    }


def table(result: TaskAnalysis) -> Iterator[str]:
    """Yields a line per task, and the reasons of the answer."""
    names = [task["id"][:40].encode("unicode_escape").decode() for task in result["tasks"]]
    columns = Columns.named(["task", *names], WIDTH, WIDTH, WIDTH)
    yield f"{result['policy']}, utilisation {result['utilisation']:.3f}"
    yield columns.line("task", "response", "deadline", "verdict")
    for name, task in zip(names, result["tasks"], strict=True):
        response = "-" if task["response"] is None else f"{task['response']:.12g}"
        cells = (response, f"{task['deadline']:.12g}", task["verdict"])
        note = f"  {task['note']}" if task["note"] else ""
        yield columns.line(name, *cells, note)
        if "counter_example" in task:
            example = task["counter_example"]
            yield columns.indent + (
                f"  job {example['job']}, arriving at {example['arrival']:.12g}, takes "
                f"{example['response']:.12g} in a simulation"
            )
    yield ""
    yield f"schedulable: {result['verdict']}"
    tests = result["tests"]
    for label, passed in (
        ("Liu and Layland", tests.get("liu_layland")),
        ("hyperbolic bound", tests.get("hyperbolic")),
    ):
        if passed is not None:
            yield f"{label}: {'passed' if passed else 'not passed (sufficient only)'}"
    yield "Assumes: " + "; ".join(result["assumptions"]) + "."
