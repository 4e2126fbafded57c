# SPDX-License-Identifier: Apache-2.0
"""Searches schedules of single chains again, to tell loose bounds from weak searches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rclrt_py.native import analysis

from rclrt_experiments.generator.application import GeneratedApplication
from rclrt_experiments.generator.feasibility import load
from rclrt_experiments.sweep import Backend
from rclrt_experiments.verification.looseness import Loose
from rclrt_experiments.verification.sampled import as_limit
from rclrt_experiments.verification.search import search
from rclrt_experiments.verification.verify import Attack, Outcome
from rclrt_experiments.verification.violation import Violation, violation_of

if TYPE_CHECKING:
    from rclrt_analysis import Overheads

AttackOf = Callable[..., dict[str, Outcome] | None]
"""attack_seed() of a seed, with `executors` and `attack`."""


@dataclass(frozen=True)
class AttackOnChain(Attack):
    """The search for a longer response of one chain."""

    chain: str = ""
    bound_ns: int = 0

    def outcome(
        self,
        application: GeneratedApplication,
        priorities: dict[str, int],
        executor: str,
        overheads: Overheads | None = None,
    ) -> Outcome:
        """Attacks the bound of the chain. `looseness` of the result has one ratio, or none if no
        instance ended."""
        module = analysis()
        ids = [chain.id for chain in load(application, priorities).chains]
        limits = [as_limit(self.bound_ns if each == self.chain else None) for each in ids]
        attacked = replace(application, deadlines_ns=limits)
        model = load(attacked, priorities)
        wanted = [each == self.chain for each in ids]
        used = overheads or module.Overheads()
        searched = search(model, executor, wanted, used, self.instances)
        closest = max(searched.closest)
        outcome = Outcome(looseness=(1 / closest,) if closest > 0 else ())
        for found in searched.examples:
            if found is not None:
                violation = violation_of(found, attacked, priorities, executor)
                outcome = replace(outcome, violation=violation)
        return outcome

    def smallest(self, violation: Violation, overheads: Overheads | None = None) -> Violation:
        """Returns the violation as it is: its bound is that of this application only."""
        return violation


@dataclass(frozen=True)
class _Again:
    """Searches one of the bounds again."""

    attack: AttackOf
    bounds: Sequence[tuple[str, Loose]]
    instances: int

    def __call__(self, index: int) -> Outcome:
        executor, loose = self.bounds[index]
        on_chain = AttackOnChain(
            instances=self.instances,
            on_machines=loose.seed % 2 > 0,  # only then, it is attacked on one
            chain=loose.chain,
            bound_ns=loose.bound_ns,
        )
        outcomes = self.attack(loose.seed, executors=[executor], attack=on_chain) or {}
        return outcomes.get(executor, Outcome())


def search_again(
    backend: Backend,
    attack: AttackOf,
    worst: dict[str, list[Loose]],
    instances: int,
    stopped: Callable[[], bool],
) -> tuple[dict[str, list[Loose]], list[Violation]]:
    """Returns the bounds of each executor with the ratios of a search with this number of
    instances for each, and the violations that it found. `attack` must be picklable."""
    bounds = [(executor, loose) for executor, found in worst.items() for loose in found]
    again = dict(backend.run(_Again(attack, bounds, instances), range(len(bounds)), stopped))
    result: dict[str, list[Loose]] = {executor: [] for executor in worst}
    for index, (executor, loose) in enumerate(bounds):
        ratios = again[index].looseness if index in again else ()
        result[executor].append(loose.again(min(ratios)) if ratios else loose)
    violations = [each.violation for each in again.values() if each.violation is not None]
    return result, violations
