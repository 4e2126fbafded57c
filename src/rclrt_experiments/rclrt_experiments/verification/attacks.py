# SPDX-License-Identifier: Apache-2.0
"""Attacks many applications, on any back end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rclrt_py.terminal.progress import Progress

from rclrt_experiments.sweep import Backend
from rclrt_experiments.verification.verify import Outcome

Outcomes = dict[str, Outcome]
Attack = Callable[[int], Outcomes | None]
"""Returns the outcomes of the application of a seed, by executor. None: it is not feasible."""


@dataclass(frozen=True)
class Attacked:
    """The results of an attack that ended or was stopped."""

    outcomes: list[Outcomes]
    """The outcomes of the feasible applications, in the order of their seeds."""
    infeasible: int


def attack_all(
    backend: Backend, attack: Attack, seeds: Sequence[int], stopped: Callable[[], bool]
) -> Attacked:
    """Calls `attack` for each seed until `stopped` returns true. `attack` must be picklable."""
    progress = Progress(sys.stderr, len(seeds))
    found: dict[int, Outcomes | None] = {}
    for seed, outcomes in backend.run(attack, seeds, stopped):
        found[seed] = outcomes
        if progress.live:
            progress.show(len(found), f"{len(found)} of {len(seeds)} applications")
    progress.clear()
    in_order = [found[seed] for seed in sorted(found)]
    feasible = [each for each in in_order if each is not None]
    return Attacked(feasible, len(found) - len(feasible))
