# SPDX-License-Identifier: Apache-2.0
"""Callbacks on executors and CPUs with priorities, or priorities of tasks, as documents and
files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

from rclrt_py.analyses.chains import (
    Analysis,
    Assumption,
    CallbackPriority,
    CauseEffectChain,
    Chain,
    sound,
)
from rclrt_py.errors import BadInput
from rclrt_py.native import analysis, model

if TYPE_CHECKING:
    from rclrt_analysis import Assignment as NativeAssignment
    from rclrt_analysis import AssignProgress, Machine, Quality, TaskFile
    from rclrt_model import Application

OBJECTIVES = {
    "max-slack": "the fewest chains without a proof, then the least of the largest bound / "
    "deadline",
    "feasible": "the first assignment that was found with a proof for every chain; until then the "
    "fewest without, then the least of the largest bound / deadline",
    "min-response": "the fewest chains without a proof, then the least mean of the bounds",
}
NOTHING_OPTIMISED = "nothing: as PiCAS has it"
LAYOUTS = ("any", "stated", "partitioned", "clusters", "global")
"""Which CPUs executors get: those of the file, one each, clusters of their own, all CPUs."""


class AssignmentQuality(TypedDict):
    """The criteria by which an assignment is judged."""

    not_proved: int
    not_bounded: int
    conditional: int
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


class CauseEffectChange(TypedDict):
    """The effect of an assignment on one chain that samples."""

    id: str
    max_reaction_ms: float | None
    max_age_ms: float | None
    reaction_ms_before: float | None
    age_ms_before: float | None
    verdict_before: str
    reaction_ms: float | None
    age_ms: float | None
    verdict: str


UNITS = ("group", "node", "process")
"""The callbacks that have one executor. `group`: a callback without a group is placed alone."""


class CallbackPlace(TypedDict):
    """A callback with an executor that is not the one of its node."""

    id: str
    executor: str


class NodePlace(TypedDict):
    """The executor that an assignment gives to a node, and the callbacks that have another one."""

    id: str
    executor: str
    callbacks: list[CallbackPlace]


class ExecutorPlace(TypedDict):
    """The CPUs that an assignment gives to an executor."""

    name: str
    process: str
    cpus: list[int]


class LayoutChoice(TypedDict):
    """The best assignment that was found with one layout of executors on CPUs."""

    layout: str
    most_cpus: int
    """The most CPUs of an executor."""
    chosen: bool
    evaluations: int
    quality: AssignmentQuality


class Assignment(TypedDict):
    """The document that `rclrt assign APP --json` prints."""

    application: str
    executor: str
    method: str
    objective: str
    optimised: str
    start: str
    evaluations: int
    stopped: bool
    """Ctrl-C has ended the search."""
    optimal: bool
    feasible: bool
    layouts: list[LayoutChoice]
    layouts_not_tried: str
    """Why there are no more of them; empty if there is no reason."""
    overheads: dict[str, float]
    assumptions: list[Assumption]
    before: AssignmentQuality
    after: AssignmentQuality
    chains: list[ChainChange]
    cause_effect_chains: NotRequired[list[CauseEffectChange]]
    nodes: list[NodePlace]
    executors: list[ExecutorPlace]
    callbacks: list[CallbackPriority]


class TaskAssignment(TypedDict):
    """The document that `rclrt assign` prints for a task set with `--json`."""

    policy: str
    feasible: bool
    schedulable: bool
    optimal: bool
    tasks: list[CallbackPriority]


def usual_evaluations(application: Application) -> int:
    """Returns how many evaluations of all bounds a search has by default. Each one takes longer
    with more callbacks, and a search should take seconds."""
    return max(60_000 // max(len(application.callbacks), 30), 1)


def assign_application(
    application: Application,
    executor: str,
    machine: Machine,
    cpus: Sequence[int],
    *,
    method: str,
    objective: str,
    evaluations: int,
    layout: str = "any",
    unit: str = "group",
    seed: int = 1,
    on_progress: Callable[[AssignProgress], None] | None = None,
    searched: Callable[[], None] = lambda: None,
) -> tuple[Assignment, str, Application]:
    """Searches for an assignment of the callbacks to executors on the CPUs, and of priorities to
    the callbacks. Returns the document of `--json`, the text of the new app.yaml, and the new
    application.

    Ctrl-C ends the search with the best assignment so far, if there is one. `searched` is called at
    the end of the search. Throws BadInput for a layout that is not possible."""
    try:
        found = analysis().assign(
            application,
            list(cpus),
            executor,
            overheads=machine.overheads,
            method=method,
            objective=objective,
            evaluations=evaluations,
            layout=layout,
            unit=unit,
            seed=seed,
            anytime=True,
            on_progress=on_progress,
        )
    except ValueError as error:
        raise BadInput(f"{application.name}: {error}") from error
    searched()
    result = _document(application, executor, machine, found, (method, objective))
    text: str = model().to_yaml(found.application)
    return result, f"# Executors and priorities by rclrt assign.\n{text}", found.application


def _document(
    application: Application,
    executor: str,
    machine: Machine,
    found: NativeAssignment,
    how: tuple[str, str],
) -> Assignment:
    """Returns the document of `--json`. `how`: the method and the objective."""
    method, objective = how
    made = found.application

    def judged(search: bool) -> list[Analysis]:
        return [sound(each, executor, machine, search=search)[0] for each in (application, made)]

    try:
        before, after = judged(search=not found.stopped)
    except KeyboardInterrupt:  # the search for refutations ends, too
        before, after = judged(search=False)
    result: Assignment = {
        "application": application.name,
        "executor": executor,
        "method": method,
        "objective": objective,
        "optimised": OBJECTIVES[objective] if method == "search" else NOTHING_OPTIMISED,
        "start": found.start,
        "evaluations": found.evaluations,
        "stopped": found.stopped,
        "optimal": found.optimal,
        "feasible": after["feasible"],
        "layouts": _layouts(found),
        "layouts_not_tried": found.not_tried,
        "overheads": after["overheads"],
        "assumptions": after["assumptions"],
        "before": _quality(found.before),
        "after": _quality(found.after),
        "chains": list(map(_change, before["chains"], after["chains"])),
        "nodes": _nodes(made),
        "executors": [
            {"name": each.name, "process": each.process, "cpus": list(each.cpus)}
            for each in made.executors
        ],
        "callbacks": [
            {"id": callback.id, "priority": made.effective_priority(index)}
            for index, callback in enumerate(made.callbacks)
        ],
    }
    if application.cause_effect_chains:
        result["cause_effect_chains"] = list(
            map(_sampled_change, before["cause_effect_chains"], after["cause_effect_chains"])
        )
    return result


def _nodes(made: Application) -> list[NodePlace]:
    result: list[NodePlace] = [
        {"id": node.name, "executor": made.executors[node.executor].name, "callbacks": []}
        for node in made.nodes
    ]
    for callback in made.callbacks:
        if callback.executor is not None:
            result[callback.node]["callbacks"].append(
                {"id": callback.id, "executor": made.executors[callback.executor].name}
            )
    return result


def _layouts(found: NativeAssignment) -> list[LayoutChoice]:
    return [
        {
            "layout": each.layout,
            "most_cpus": each.most_cpus,
            "chosen": each.chosen,
            "evaluations": each.evaluations,
            "quality": _quality(each.quality),
        }
        for each in found.layouts
    ]


def _change(old: Chain, new: Chain) -> ChainChange:
    return {
        "id": new["id"],
        "deadline_ms": new["deadline_ms"],
        "bound_ms_before": old["bound_ms"],
        "verdict_before": old["verdict"],
        "bound_ms": new["bound_ms"],
        "verdict": new["verdict"],
        "assumptions": new["assumptions"],
    }


def _sampled_change(old: CauseEffectChain, new: CauseEffectChain) -> CauseEffectChange:
    return {
        "id": new["id"],
        "max_reaction_ms": new["max_reaction_ms"],
        "max_age_ms": new["max_age_ms"],
        "reaction_ms_before": old["reaction_ms"],
        "age_ms_before": old["age_ms"],
        "verdict_before": old["verdict"],
        "reaction_ms": new["reaction_ms"],
        "age_ms": new["age_ms"],
        "verdict": new["verdict"],
    }


def _quality(quality: Quality) -> AssignmentQuality:
    return {
        "not_proved": quality.not_proved,
        "not_bounded": quality.not_bounded,
        "conditional": quality.conditional,
        "worst_bound_by_deadline": quality.worst,
        "mean_bound_by_deadline": quality.mean,
        "mean_bound_ms": quality.mean_bound_ns / 1e6,
    }


def assign_tasks(file: TaskFile, name: str) -> tuple[TaskAssignment, str]:
    """Assigns priorities to the tasks. Returns the document of `--json`, and the text of the new
    task file. Throws BadInput with the file's name if the file's scheduling policy has no
    priorities."""
    module = analysis()
    try:
        found = module.assign_priorities(file.tasks, file.policy)
    except ValueError as error:
        raise BadInput(f"{name}: {error}") from error
    tasks: list[CallbackPriority] = [
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
