# SPDX-License-Identifier: Apache-2.0
"""Describes one version of an application for the page: its parts, bounds and warnings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rclrt_py.analyses.chains import sound
from rclrt_py.errors import BadInput
from rclrt_py.native import analysis, model
from rclrt_py.runs.application import NO_DEADLINE_NS, interval_ns
from rclrt_py.stats import ms_or_none

if TYPE_CHECKING:
    from rclrt_analysis import Machine
    from rclrt_model import Application, Callback, CallbackPlace


def parse(text: str, name: str) -> Application:
    """Parses the text of an app.yaml. Throws BadInput, with the lines of its mistakes."""
    module = model()
    try:
        application: Application = module.parse(text, name)
    except module.ModelError as error:
        raise BadInput(str(error)) from error
    return application


def answer(application: Application, executor: str, machine: Machine) -> dict[str, Any]:
    """Returns the document of one version: `model`, and `analysis` as in `rclrt analyze --json
    --no-search`."""
    result, _ = sound(application, executor, machine, search=False)
    return {
        "model": describe(application),
        "analysis": result,
        "no_bounds": analysis().why_no_bounds(executor),
        "load": list(_load(application)),
        "warnings": list(
            dict.fromkeys(
                [
                    *model().warnings(application),
                    *model().order_warnings(application, executor),
                    *_queue_warnings(result.get("queues", [])),
                ]
            )
        ),
    }


def describe(application: Application) -> dict[str, Any]:
    """Returns the parts of an application for the page; callbacks, nodes and executors by index."""
    callbacks = application.callbacks
    places = model().places_of(application)
    topics: dict[str, None] = {}
    for callback in callbacks:
        topics.update(dict.fromkeys((*callback.inputs, *callback.publishes)))
    return {
        "name": application.name,
        "description": application.description,
        "executors": [
            {
                "name": each.name,
                "cpus": list(each.cpus),
                "process": each.process,
                "top_priority": each.top_priority,
            }
            for each in application.executors
        ],
        "nodes": [
            {"name": each.name, "namespace": each.name_space, "executor": each.executor}
            for each in application.nodes
        ],
        "callbacks": [
            {**_callback(application, index, callback), "places": list(map(_place, places[index]))}
            for index, callback in enumerate(callbacks)
        ],
        "chains": [
            {
                "id": each.id,
                "callbacks": list(each.callbacks),
                "priority": each.priority,
                "deadline_ms": _deadline(each.deadline_ns),
            }
            for each in application.chains
        ],
        "cause_effect_chains": [
            {
                "id": each.id,
                "callbacks": list(each.callbacks),
                "segments": [segment.chain for segment in each.segments],
                "max_reaction_ms": ms_or_none(each.max_reaction_ns),
                "max_age_ms": ms_or_none(each.max_age_ns),
            }
            for each in application.cause_effect_chains
        ],
        "topics": list(topics),
        "hyperperiod_ms": application.hyperperiod_ns() / 1e6,
    }


def _place(place: CallbackPlace) -> str:
    """Returns the name of a callback in the ROS graph, as rclrt_rclcpp and its monitor write it."""
    group = f" group {place.group}" if place.kind in ("timer", "waitable") and place.group else ""
    return f"{place.node}{group} {place.kind} {place.name}"


def _callback(application: Application, index: int, callback: Callback) -> dict[str, Any]:
    trigger = callback.trigger
    times = {
        f"{name}_ms": ms_or_none(getattr(trigger, f"{name}_ns"))
        for name in ("offset", "jitter", "min_interval", "max_interval", "window")
        if hasattr(trigger, f"{name}_ns")
    }
    return {
        "id": callback.id,
        "node": callback.node,
        "kind": callback.kind,
        "executor": application.executor_of(index),
        "wcet_ms": callback.wcet_ns / 1e6,
        "waits_ms": callback.waits_ns / 1e6,
        "workload": callback.workload.name if callback.workload else None,
        "period_ms": ms_or_none(getattr(trigger, "period_ns", None)),
        "interval_ms": ms_or_none(interval_ns(callback)),
        **times,
        "depth": getattr(trigger, "depth", None),
        "group": callback.group,
        "priority": callback.priority,
        "level": application.effective_priority(index),
        "deadline_ms": ms_or_none(callback.deadline_ns),
        "inputs": list(callback.inputs),
        "publishes": list(callback.publishes),
        "stores": list(callback.stores),
        "reads": list(callback.reads),
        "samples": list(callback.samples),
    }


def _deadline(time_ns: int) -> float | None:
    return None if time_ns >= NO_DEADLINE_NS else time_ns / 1e6


def _load(application: Application) -> Iterator[dict[str, Any]]:
    """Yields, for the CPUs that executors share with each other, the share of their time by level.
    Executors without CPUs share all CPUs; their number is not known, so it counts as one."""
    rates = application.rates()
    executors = application.executors
    sets: list[set[int]] = []
    for each in executors:
        joined = set(each.cpus)
        apart = [other for other in sets if not (other & joined)]
        for other in sets:
            if other & joined:
                joined |= other
        sets = [*apart, joined] if joined else apart
    places: dict[tuple[int, ...], dict[int, float]] = {
        tuple(sorted(each)): {} for each in sorted(sets, key=min)
    }
    place_of = [
        next((place for place in places if set(each.cpus) & set(place)), ()) for each in executors
    ]
    if () in place_of:
        places[()] = {}
    for index, callback in enumerate(application.callbacks):
        levels = places[place_of[application.executor_of(index)]]
        level = application.effective_priority(index)
        levels[level] = levels.get(level, 0.0) + rates[index] * callback.wcet_ns / 1e9
    for cpus, levels in places.items():
        yield {
            "cpus": list(cpus),
            "executors": [
                each.name for each, place in zip(executors, place_of, strict=True) if place == cpus
            ],
            "levels": [
                {"level": level, "share": share / max(len(cpus), 1)}
                for level, share in sorted(levels.items(), reverse=True)
            ],
        }


def _queue_warnings(queues: list[Any]) -> Iterator[str]:
    for queue in queues:
        if not queue["holds"]:
            waiting = queue["pending_bound"]
            if waiting is not None:
                yield (
                    f"the queue of {queue['id']} has depth {queue['depth']}, but up to {waiting} "
                    "messages may wait: make it deeper"
                )
