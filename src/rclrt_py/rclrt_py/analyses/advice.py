# SPDX-License-Identifier: Apache-2.0
"""Changes that shorten the reaction time and the data age of cause-effect chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from rclrt_py.errors import BadInput
from rclrt_py.native import analysis
from rclrt_py.stats import ms_or_none

if TYPE_CHECKING:
    from rclrt_analysis import Advice, Machine
    from rclrt_model import Application, CauseEffectChain


class Change(TypedDict):
    """One change, and the bounds with it. `kind` is that of an Advice of rclrt_analysis."""

    kind: str
    callback: str
    segment: str
    """The segment's chain."""
    callbacks: list[str]
    """Those of the segment."""
    writer: list[str]
    """The callbacks of the segment before, which make the value; empty for the first segment."""
    time_ms: float | None
    """The new period or offset."""
    reaction_ms: float | None
    age_ms: float | None
    keeps_the_rest: bool
    """Whether all other deadlines and limits that held still hold."""


class ChainAdvice(TypedDict):
    """The changes that help one chain; the best one that keeps the rest comes first."""

    id: str
    reaction_ms: float | None
    age_ms: float | None
    changes: list[Change]


def advise(application: Application, executor: str, machine: Machine) -> list[ChainAdvice]:
    """Returns what would lower the bounds of each cause-effect chain. Throws BadInput if there is
    no such chain."""
    chains = application.cause_effect_chains
    if not chains:
        raise BadInput(
            f"--advise: {application.name} has no chain with max_reaction_ms or max_age_ms, and "
            "none that reads a variable\n  docs/how-to/age-of-data.md says how to state one"
        )
    found = analysis().advise(application, executor, machine)
    return [
        {
            "id": chain.id,
            "reaction_ms": ms_or_none(advice.reaction_ns),
            "age_ms": ms_or_none(advice.age_ns),
            "changes": [_change(application, chain, change) for change in advice.changes],
        }
        for chain, advice in zip(chains, found, strict=True)
    ]


def _change(application: Application, chain: CauseEffectChain, change: Advice) -> Change:
    def path(segment: int) -> list[str]:
        callbacks = application.chains[chain.segments[segment].chain].callbacks
        return [application.callbacks[callback].id for callback in callbacks]

    return {
        "kind": change.kind,
        "callback": application.callbacks[change.callback].id,
        "segment": application.chains[chain.segments[change.segment].chain].id,
        "callbacks": path(change.segment),
        "writer": path(change.segment - 1) if change.segment else [],
        "time_ms": ms_or_none(change.time_ns),
        "reaction_ms": ms_or_none(change.reaction_ns),
        "age_ms": ms_or_none(change.age_ns),
        "keeps_the_rest": change.keeps_the_rest,
    }
