# SPDX-License-Identifier: Apache-2.0
"""A counter-example in the document of an analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired, TypedDict

if TYPE_CHECKING:
    from rclrt_analysis import CounterExample
    from rclrt_model import Application


class ChainCounterExample(TypedDict):
    """A schedule in which a chain misses its deadline, or a cause-effect chain exceeds a limit; see
    `rclrt simulate --replay`."""

    executor: str
    offsets_ms: dict[str, float]
    seed: int
    execution_from: float
    extremes: bool
    """Execution times and the intervals of events are only the least or the greatest ones."""
    delays_from: float
    begins_at_ms: NotRequired[float]
    """The schedule begins this long after the application; all other times count from there."""
    warm_up_ms: NotRequired[float]
    """Up to this time of the schedule nothing takes any CPU time."""
    horizon_ms: float
    instance: int
    release_ms: float
    # One of these:
    response_ms: NotRequired[float]
    reaction_ms: NotRequired[float]
    age_ms: NotRequired[float]
    never_runs: NotRequired[str]
    """A callback that had not run at the horizon; `response_ms` is the wait up to there."""


def counter_example(application: Application, example: CounterExample) -> ChainCounterExample:
    result: ChainCounterExample = {
        "executor": example.executor,
        "offsets_ms": {
            callback.id: offset / 1e6
            for callback, offset in zip(application.callbacks, example.offsets_ns, strict=True)
            if callback.kind in ("timer", "event")
        },
        "seed": example.seed,
        "execution_from": example.execution_from_percent / 100,
        "extremes": example.extremes,
        "delays_from": example.delays_from_percent / 100,
        "horizon_ms": example.horizon_ns / 1e6,
        "instance": example.instance,
        "release_ms": example.release_ns / 1e6,
    }
    if example.begin_ns > 0:
        result["begins_at_ms"] = example.begin_ns / 1e6
    if example.warm_up_ns > 0:
        result["warm_up_ms"] = example.warm_up_ns / 1e6
    if example.limit == "deadline":
        result["response_ms"] = example.response_ns / 1e6
    elif example.limit == "reaction":
        result["reaction_ms"] = example.response_ns / 1e6
    else:
        result["age_ms"] = example.response_ns / 1e6
    if example.never_runs is not None:
        result["never_runs"] = application.callbacks[example.never_runs].id
    return result
