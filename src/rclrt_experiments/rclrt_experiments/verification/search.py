# SPDX-License-Identifier: Apache-2.0
"""Searches schedules of an application on each number of CPUs that it may run on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rclrt_py.native import analysis

if TYPE_CHECKING:
    from rclrt_analysis import CounterExample, Overheads
    from rclrt_model import Application

ANY_CPUS = (1, 2, 3, 8)
"""The numbers of CPUs that are simulated where executors state none."""


@dataclass(frozen=True)
class Searched:
    """The results of the searches on all numbers of CPUs, as those of SearchResult."""

    closest: tuple[float, ...]
    examples: tuple[CounterExample | None, ...]
    cause_effect_examples: tuple[CounterExample | None, ...]
    worst_reaction_ns: tuple[int, ...]
    worst_age_ns: tuple[int, ...]


def cpus_to_simulate(model: Application, overheads: Overheads) -> tuple[int, ...]:
    """Returns the numbers of CPUs for executors that state none: that of the machine or, if it is
    not known, several."""
    if all(executor.cpus for executor in model.executors):
        return (1,)
    return (overheads.cpus,) if overheads.cpus > 0 else ANY_CPUS


def search(
    model: Application,
    executor: str,
    wanted: Sequence[bool],
    overheads: Overheads,
    instances: int,
    wanted_cause_effect_chains: Sequence[bool] = (),
) -> Searched:
    """Searches counter-examples by simulation of this number of instances in all."""
    counts = cpus_to_simulate(model, overheads)
    found = [
        analysis().search_schedules(
            model,
            executor,
            wanted,
            wanted_cause_effect_chains=wanted_cause_effect_chains,
            overheads=overheads,
            cpus=count,
            instances=max(instances // len(counts), 1),
        )
        for count in counts
    ]
    return Searched(
        closest=tuple(max(each) for each in zip(*(one.closest for one in found), strict=True)),
        examples=_first([each.examples for each in found]),
        cause_effect_examples=_first([each.cause_effect_examples for each in found]),
        worst_reaction_ns=_largest([each.worst_reaction_ns for each in found]),
        worst_age_ns=_largest([each.worst_age_ns for each in found]),
    )


def _first(found: Sequence[Sequence[CounterExample | None]]) -> tuple[CounterExample | None, ...]:
    return tuple(
        next((each for each in examples if each is not None), None)
        for examples in zip(*found, strict=True)
    )


def _largest(found: Sequence[Sequence[int]]) -> tuple[int, ...]:
    return tuple(max(times) for times in zip(*found, strict=True))
