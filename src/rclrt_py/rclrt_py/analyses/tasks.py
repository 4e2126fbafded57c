# SPDX-License-Identifier: Apache-2.0
"""The analysis of a task set as a document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

from rclrt_py.analyses.sensitivity import SensitivityResult
from rclrt_py.errors import BadInput
from rclrt_py.native import analysis

if TYPE_CHECKING:
    from rclrt_analysis import Task, TaskCounterExample, TaskFile

TASKS = re.compile(rb"""(^|[{,])\s*["']?tasks["']?\s*:""", re.MULTILINE)
APPLICATION = re.compile(
    rb"""(^|[{,])\s*["']?(callbacks|chains|executors|nodes)["']?\s*:""", re.MULTILINE
)
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


def is_task_set(text: bytes) -> bool:
    """Returns whether the text is a task set and not an application."""
    return b"tasks" in text and bool(TASKS.search(text)) and not APPLICATION.search(text)


def parse_tasks(text: bytes, name: str) -> TaskFile:
    """Parses a task set. `name` is its place in errors. Throws BadInput."""
    module = analysis()
    try:
        file: TaskFile = module.parse_task_set(text, name)
    except module.FileError as error:
        raise BadInput(str(error)) from error
    return file


def number(ticks: int | None, decimals: int) -> Number:
    """Converts ticks to a number in the units of the file."""
    if ticks is None:
        return None
    text = analysis().in_units(ticks, decimals)
    return float(text) if "." in text else int(text)


def analyse(file: TaskFile, *, search: bool) -> tuple[TaskAnalysis, list[TaskCounterExample]]:
    """Returns the document of `--json`, and the counter-examples that were found.

    If `search` is true, a simulation searches for a schedule in which a task without a proof misses
    its deadline. In the document, `schedulable` of a task is true if its deadline was proved.
    """
    module = analysis()
    tasks = file.tasks
    found = module.analyse_tasks(tasks, file.policy)
    examples: list[TaskCounterExample | None] = [None] * len(tasks)
    if search:
        refutation = module.refute_tasks(tasks, file.policy, found)
        found, examples = refutation.result, refutation.examples
    document: TaskAnalysis = {
        "policy": file.policy,
        "utilisation": module.utilisation(tasks),
        "feasible": found.schedulable == "yes",
        "schedulable": found.schedulable == "yes",
        "verdict": found.verdict,
        "assumptions": _assumptions(file),
        "tests": _load_tests(tasks) if file.policy == "fp_preemptive" else {},
        "tasks": [
            {
                "id": task.id,
                "response": number(result.response, file.decimals),
                "deadline": number(task.deadline, file.decimals),
                "schedulable": result.schedulable == "yes",
                "verdict": result.verdict,
                "exact": result.exact,
                "note": result.note,
            }
            for task, result in zip(tasks, found.tasks, strict=True)
        ],
    }
    for task, example in zip(document["tasks"], examples, strict=True):
        if example is not None:
            task["counter_example"] = _miss(file, example)
    return document, [example for example in examples if example is not None]


def _miss(file: TaskFile, example: TaskCounterExample) -> TaskMiss:
    return {
        "offsets": _by_id(file, example.offsets),
        "first_jitter": _by_id(file, example.jitter),
        "job": example.job,
        "arrival": number(example.arrival, file.decimals),
        "response": number(example.response, file.decimals),
    }


def _by_id(file: TaskFile, ticks: Sequence[int]) -> dict[str, Number]:
    return {
        task.id: number(value, file.decimals) for task, value in zip(file.tasks, ticks, strict=True)
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
