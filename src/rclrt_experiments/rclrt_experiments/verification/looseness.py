# SPDX-License-Identifier: Apache-2.0
"""Which term makes a bound much longer than the longest response that the search found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

CAUSES = {
    "own": "its own work",
    "interference": "releases of other callbacks",
    "sets": "sets of a synchroniser",
    "started": "a less urgent member of a group",
    "other_input": "a synchroniser waits for another input",
    "callback": "a callback by itself",
    "segment": "a part of the chain by itself",
    "hop": "a message on its way",
    "link": "a message over a link",
    "late": "a late timer",
    "ready_sets": "ready sets",
    "background": "time lost in the background",
    "stall": "a stall",
    "rest": "the shorter terms together",
    "waits": "a callback of the chain waits",
}
"""The terms of a bound (Contribution.kind), in the words of the page about verdicts."""
NO_TERM = "no term"


@dataclass(frozen=True)
class Loose:
    """A proved bound, and the longest response that the search found."""

    ratio: float
    bound_ns: int
    chain: str
    seed: int
    cpus: int
    """Number of CPUs that the executors state together. 0: they state none."""
    cause: str
    """The term of the bound with the longest time. The chain's own work counts only if there is no
    other one."""
    share: float
    """The part of the bound that this term is."""


def cause_of(terms: Sequence[Any]) -> tuple[str, int]:
    """Returns the kind of terms (Contribution) with the longest time, and that time in ns."""
    times: Counter[str] = Counter()
    for term in terms:
        times[term.kind] += term.total_ns
    own = times.pop("own", 0)
    if not times:
        return (CAUSES["own"], own) if own else (NO_TERM, 0)
    kind, time_ns = times.most_common(1)[0]
    return CAUSES[kind], time_ns


def worst_of(loose: Sequence[Loose], count: int) -> list[Loose]:
    """Returns the bounds with the largest ratios, the largest one first."""
    return sorted(loose, key=lambda each: (-each.ratio, each.seed, each.chain))[:count]


def causes_of(loose: Sequence[Loose]) -> list[tuple[str, int]]:
    """Returns how often each cause occurs, the most frequent one first."""
    return Counter(each.cause for each in loose).most_common()
