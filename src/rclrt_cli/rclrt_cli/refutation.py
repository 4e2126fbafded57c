# SPDX-License-Identifier: Apache-2.0
"""Searches for a schedule that misses a deadline, if no deadline was proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rclrt_py.native import analysis

from rclrt_cli.chain_analysis import Analysis
from rclrt_cli.task_analysis import Number, TaskAnalysis, number

if TYPE_CHECKING:
    from rclrt_analysis import CounterExample, Machine, TaskCounterExample, TaskFile
    from rclrt_model import Application

NOT_SIMULATED = ("background", "stall")
"""Overheads that may occur at any time, or never: a schedule without them is legal."""


def refute_chains(
    application: Application, result: Analysis, machine: Machine
) -> list[CounterExample]:
    """Searches for counter-examples for the chains that are neither proved nor conditional.

    A chain with a counter-example gets the verdict `refuted`, and its `counter_example`. Returns
    the counter-examples.
    """
    module = analysis()
    wanted = [chain["verdict"] == "unknown" for chain in result["chains"]]
    if not any(wanted):
        return []
    try:
        found = module.find_counter_examples(
            application, result["executor"], wanted, overheads=machine.overheads
        )
    except ValueError as error:  # more CPUs than the simulator has, for example
        result["not_searched"] = str(error)
        return []
    timers = [
        (index, callback.id)
        for index, callback in enumerate(application.callbacks)
        if callback.kind in ("timer", "event")
    ]
    for chain, example in zip(result["chains"], found, strict=True):
        if example is None:
            continue
        chain["verdict"] = "refuted"
        chain["note"] = (
            f"misses in simulation: released at {example.release_ns / 1e6:.9g} ms, "
            f"it takes {example.response_ns / 1e6:.9g} ms"
        )
        chain["counter_example"] = {
            "executor": example.executor,
            "offsets_ms": _offsets(example, timers),
            "seed": example.seed,
            "execution_from": example.execution_from_percent / 100,
            "delays_from": example.delays_from_percent / 100,
            "horizon_ms": example.horizon_ns / 1e6,
            "instance": example.instance,
            "release_ms": example.release_ns / 1e6,
            "response_ms": example.response_ns / 1e6,
        }
    left_out = [name for name in NOT_SIMULATED if getattr(machine.overheads, f"{name}_ns") > 0]
    if left_out and any(chain["verdict"] == "unknown" for chain in result["chains"]):
        result["searched_without"] = left_out
    return [example for example in found if example is not None]


def _offsets(example: CounterExample, timers: list[tuple[int, str]]) -> dict[str, float]:
    offsets = example.offsets_ns
    return {name: offsets[index] / 1e6 for index, name in timers}


def refute_tasks(file: TaskFile, result: TaskAnalysis) -> list[TaskCounterExample]:
    """Searches as refute_chains() does, for a task set."""
    wanted = [task["verdict"] != "proved" for task in result["tasks"]]
    if not any(wanted):
        return []
    found = analysis().find_task_counter_examples(file.tasks, file.policy, wanted)
    for task, example in zip(result["tasks"], found, strict=True):
        if example is None:
            continue
        task["verdict"] = result["verdict"] = "refuted"
        task["counter_example"] = {
            "offsets": _by_id(file, example.offsets),
            "first_jitter": _by_id(file, example.jitter),
            "job": example.job,
            "arrival": number(example.arrival, file.decimals),
            "response": number(example.response, file.decimals),
        }
    return [example for example in found if example is not None]


def _by_id(file: TaskFile, ticks: list[int]) -> dict[str, Number]:
    return {
        task.id: number(value, file.decimals) for task, value in zip(file.tasks, ticks, strict=True)
    }
