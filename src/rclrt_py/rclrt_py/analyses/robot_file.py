# SPDX-License-Identifier: Apache-2.0
"""The executors and priorities of an application as a robot.yaml, for rclcpp nodes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rclrt_py.analyses.node_priorities import ReasonedPriority, entry_lines
from rclrt_py.errors import BadInput
from rclrt_py.executors import kind_of
from rclrt_py.native import model

if TYPE_CHECKING:
    from rclrt_model import Application, Executor

HIGHEST_TOP_PRIORITY = 95
"""kTopPriority of rclrt_model: the SCHED_FIFO priority above the levels of an executor."""


def robot_file(application: Application, executor: str, command: str = "rclrt assign") -> str:
    """Returns the text of a robot.yaml for an application with one executor per process; with
    several processes, of a file of all processes of a host. Each section `callbacks` has entries as
    in node_priorities().

    With several processes, the priorities are those of the threads (SCHED_FIFO), because they are
    compared between processes."""
    several = len(application.executors) > 1
    if several and kind_of(executor).orders_executors:
        raise BadInput(
            f"--robot: {executor} orders the executors of one process, and here are "
            f"{len(application.executors)} processes; choose another --executor"
        )
    reasons = _reasons(application)
    values = [application.effective_priority(index) for index in range(len(reasons))]
    levels = kind_of(executor).has_levels
    if several and levels:
        values = _on_host_scale(application, values)
    places = model().places_of(application)
    lines = [f"# Executors and priorities of {application.name}, by {command}.\n", "rclrt: 1\n"]
    if several:
        lines.append("processes:\n")
    for index, own in enumerate(application.executors):
        indent = "    " if several else ""
        if several:
            lines.append(f"  - name: {json.dumps(own.process or own.name)}\n")
        lines.append(f"{indent}executor: {_settings(own, executor, several and levels)}\n")
        entries = entry_lines(
            [
                (places[callback], _item(application, callback, values, reasons))
                for callback in range(len(values))
                if application.executor_of(callback) == index
            ],
            indent + "  ",
        )
        if entries:
            lines += [f"{indent}callbacks:\n", *entries]
    return "".join(lines)


def _on_host_scale(application: Application, values: list[int]) -> list[int]:
    """Returns the SCHED_FIFO priority of each callback's level. Below its `top_priority`, each
    executor has one for each of its priorities."""
    result = list(values)
    for index, executor in enumerate(application.executors):
        own = [each for each in range(len(values)) if application.executor_of(each) == index]
        top = executor.top_priority or HIGHEST_TOP_PRIORITY
        for below, level in enumerate(sorted({values[each] for each in own}, reverse=True), 1):
            for each in own:
                if values[each] == level:
                    result[each] = top - below
    return result


def _settings(executor: Executor, kind: str, host_scale: bool) -> str:
    """Returns the section `executor`. With a scale of the host, no executor states the upper end
    of its priorities."""
    cpus = ", ".join(map(str, executor.cpus))
    if executor.scheduler_cpus:
        cpus += f"], scheduler_cpus: [{', '.join(map(str, executor.scheduler_cpus))}"
    top = ""
    if executor.top_priority is not None and not host_scale:
        top = f", top_priority: {executor.top_priority}"
    return f"{{kind: {kind}, cpus: [{cpus}]{top}}}"


def _item(
    application: Application, callback: int, values: list[int], reasons: list[str]
) -> ReasonedPriority:
    return {
        "id": application.callbacks[callback].id,
        "priority": values[callback],
        "reason": reasons[callback],
    }


def _reasons(application: Application) -> list[str]:
    """Returns the most urgent chain of each callback, as a reason for its priority."""
    found: dict[int, str] = {}
    for chain in sorted(application.chains, key=lambda chain: chain.priority):
        for callback in chain.callbacks:
            found[callback] = f"chain {chain.id}"
    return [found.get(index, "on no chain") for index in range(len(application.callbacks))]
