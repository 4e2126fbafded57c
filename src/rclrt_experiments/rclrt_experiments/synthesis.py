# SPDX-License-Identifier: Apache-2.0
"""Finds where synthesized priorities change a result, by a simulation of the applications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rclrt_experiments.bounds import name_of
from rclrt_experiments.experiment import SYNTHESIS
from rclrt_experiments.rows import Row

Changes = Mapping[tuple[str, str], Mapping[str, Sequence[bool]]]
"""By experiment and executor, then by point: whether a time of each application differs."""


def changes(rows: Sequence[Row]) -> Changes:
    times: dict[tuple[str, str, str, int], list[tuple[Any, ...]]] = {}
    for row in rows:
        key = (row.experiment, row.executor, row.varied, row.trial)
        times.setdefault(key, []).append((row.chain, row.best_ms, row.mean_ms, row.worst_ms))
    found: dict[tuple[str, str], dict[str, list[bool]]] = {}
    for (experiment, executor, varied, trial), own in times.items():
        with_it = times.get((experiment, executor + SYNTHESIS, varied, trial))
        if with_it is not None:
            points = found.setdefault((experiment, executor), {})
            points.setdefault(varied, []).append(own != with_it)
    return found


def sentences(found: Changes) -> Iterator[str]:
    for (experiment, executor), points in found.items():
        shown = "; ".join(f"{sum(own)} of {len(own)} at {label}" for label, own in points.items())
        yield (
            f"{experiment}: synthesis changes the simulated times under {name_of(executor)} in so "
            f"many applications: {shown}."
        )


def unchanged(found: Changes) -> frozenset[tuple[str, str]]:
    """Returns the experiments and points where synthesis changes nothing under any executor."""
    changed: dict[tuple[str, str], bool] = {}
    for (experiment, _), points in found.items():
        for label, own in points.items():
            key = (experiment, label)
            changed[key] = changed.get(key, False) or any(own)
    return frozenset(key for key, any_changed in changed.items() if not any_changed)
