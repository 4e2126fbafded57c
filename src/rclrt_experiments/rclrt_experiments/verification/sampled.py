# SPDX-License-Identifier: Apache-2.0
"""Checks the bounds of cause-effect chains: searches reaction times and data ages above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rclrt_py.runs.application import NO_DEADLINE_NS

from rclrt_experiments.generator.application import GeneratedApplication, Limits
from rclrt_experiments.generator.feasibility import load
from rclrt_experiments.verification.search import search
from rclrt_experiments.verification.violation import Violation, violation_of

if TYPE_CHECKING:
    from rclrt_analysis import CauseEffectBound, Overheads


@dataclass(frozen=True)
class Sampling:
    """The results of the cause-effect chains of one application under one executor."""

    chains: int = 0
    attacked: int = 0
    """Number of chains with bounds that have no conditions."""
    unbounded: int = 0
    """Number of chains without bounds."""
    logical: int = 0
    """Number of attacked chains of which a segment has logical execution time."""
    reaction: tuple[float, ...] = ()
    """For each attacked chain with an output: the bound of its reaction time divided by the longest
    one that the search found."""
    age: tuple[float, ...] = ()
    """The same of its data age."""


def attack_sampled(
    application: GeneratedApplication,
    priorities: dict[str, int],
    executor: str,
    overheads: Overheads,
    bounds: Sequence[CauseEffectBound],
    instances: int,
) -> tuple[Sampling, Violation | None]:
    """Searches a reaction time or a data age above these bounds, by simulation of this number of
    instances. Bounds with conditions are not attacked."""
    attacked = [bound.reaction_ns is not None and not bound.assumptions for bound in bounds]
    sampling = Sampling(
        chains=len(bounds),
        attacked=sum(attacked),
        unbounded=sum(bound.reaction_ns is None for bound in bounds),
        logical=sum(
            on and any(segment.logical for segment in path)
            for on, path in zip(attacked, application.paths, strict=True)
        ),
    )
    if not any(attacked):
        return sampling, None
    limits = [Limits(as_limit(bound.reaction_ns), as_limit(bound.age_ns)) for bound in bounds]
    limited = replace(application, limits_ns=limits)
    model = load(limited, priorities)
    searched = search(model, executor, [False] * len(model.chains), overheads, instances, attacked)
    reactions = zip(attacked, limits, searched.worst_reaction_ns, strict=True)
    ages = zip(attacked, limits, searched.worst_age_ns, strict=True)
    sampling = replace(
        sampling,
        reaction=tuple(limit.reaction / time for on, limit, time in reactions if on and time > 0),
        age=tuple(limit.age / time for on, limit, time in ages if on and time > 0),
    )
    for found in searched.cause_effect_examples:
        if found is not None:
            return sampling, violation_of(found, limited, priorities, executor)
    return sampling, None


def as_limit(bound_ns: int | None) -> int:
    """Returns a deadline or limit that a file can state; the largest one without a bound."""
    return NO_DEADLINE_NS if bound_ns is None else min(max(1, bound_ns), NO_DEADLINE_NS)


def sampling_total(parts: Sequence[Sampling]) -> Sampling:
    """Returns the sum of the counts, and the looseness of all chains in ascending order."""
    return Sampling(
        chains=sum(each.chains for each in parts),
        attacked=sum(each.attacked for each in parts),
        unbounded=sum(each.unbounded for each in parts),
        logical=sum(each.logical for each in parts),
        reaction=tuple(sorted(ratio for each in parts for ratio in each.reaction)),
        age=tuple(sorted(ratio for each in parts for ratio in each.age)),
    )
