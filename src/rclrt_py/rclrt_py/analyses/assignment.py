# SPDX-License-Identifier: Apache-2.0
"""Nodes on cores and priorities of callbacks, or priorities of tasks, as documents and files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

from rclrt_py.analyses.chains import Assumption, CallbackPriority, CauseEffectChain, Chain, sound
from rclrt_py.errors import BadInput
from rclrt_py.native import analysis, model

if TYPE_CHECKING:
    from rclrt_analysis import Machine, Quality, TaskFile
    from rclrt_model import Application

OBJECTIVES = {
    "max-slack": "the fewest chains without a proof, then the least of the largest bound / "
    "deadline",
    "feasible": "the first assignment that was found with a proof for every chain; until then the "
    "fewest without, then the least of the largest bound / deadline",
    "min-response": "the fewest chains without a proof, then the least mean of the bounds",
}
NOTHING_OPTIMISED = "nothing: as PiCAS has it"


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


def assign_application(
    application: Application,
    executor: str,
    machine: Machine,
    cpus: Sequence[int],
    *,
    method: str,
    objective: str,
    evaluations: int,
) -> tuple[Assignment, str]:
    """Searches for an assignment of the nodes to the CPUs and of priorities to the callbacks.
    Returns the document of `--json`, and the text of the new app.yaml."""
    found = analysis().assign(
        application,
        list(cpus),
        executor,
        overheads=machine.overheads,
        method=method,
        objective=objective,
        evaluations=evaluations,
    )
    made = found.application
    before, _ = sound(application, executor, machine, search=True)
    after, _ = sound(made, executor, machine, search=True)
    result: Assignment = {
        "application": application.name,
        "executor": executor,
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
        "chains": list(map(_change, before["chains"], after["chains"])),
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
    if application.cause_effect_chains:
        result["cause_effect_chains"] = list(
            map(_sampled_change, before["cause_effect_chains"], after["cause_effect_chains"])
        )
    text: str = model().to_yaml(made)
    return result, f"# Executors and priorities by rclrt assign.\n{text}"


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
