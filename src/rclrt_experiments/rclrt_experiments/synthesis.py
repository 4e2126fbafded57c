# SPDX-License-Identifier: Apache-2.0
"""In which applications of an experiment synthesis gives callbacks another order of priorities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rclrt_generator.timing import Infeasible

from rclrt_experiments.experiment import SYNTHESIS, Experiment
from rclrt_experiments.unit import draw

Changes = Mapping[str, Mapping[str, Sequence[bool]]]
"""Of an experiment: at each point, of each application."""


def changes(experiments: Sequence[Experiment], plan: Mapping[str, Any]) -> Changes:
    """Of the experiments in which an executor has synthesis."""
    found: dict[str, dict[str, list[bool]]] = {}
    for experiment, stated in zip(experiments, plan["experiments"], strict=True):
        with_it = next((each for each in stated["executors"] if each.endswith(SYNTHESIS)), None)
        if with_it is None:
            continue
        points = found.setdefault(experiment.name, {})
        for number, point in enumerate(experiment.points):
            own = points.setdefault(point.label, [])
            for trial in range(1, stated["trials"] + 1):
                try:
                    one, other = (
                        draw(experiment, number, trial, executor).priorities
                        for executor in (with_it.removesuffix(SYNTHESIS), with_it)
                    )
                except Infeasible:
                    continue
                own.append(ranks(one) != ranks(other))
    return found


def ranks(priorities: Mapping[str, int]) -> Mapping[str, int]:
    """The order, without the numbers."""
    order = sorted(set(priorities.values()))
    return {name: order.index(value) for name, value in priorities.items()}


def sentences(found: Changes) -> Iterator[str]:
    for name, points in found.items():
        shown = "; ".join(f"{sum(own)} of {len(own)} at {label}" for label, own in points.items())
        yield f"{name}: synthesis changes the order of priorities in so many applications: {shown}."


def unchanged(found: Changes) -> frozenset[tuple[str, str]]:
    """Experiment and point, where it changes nothing."""
    return frozenset(
        (name, label) for name, points in found.items() for label, own in points.items()
        if not any(own)
    )  # fmt: skip
