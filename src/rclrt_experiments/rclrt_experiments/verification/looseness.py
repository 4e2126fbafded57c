# SPDX-License-Identifier: Apache-2.0
"""Which term makes a bound much longer than the longest response that the search found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
WHOLE = "what the chain may wait for while a CPU is idle"
"""The parts Contribution.whole_ns of all terms."""
BEFORE = "work that was released before and may be under way"
"""The parts Contribution.before_ns of all terms."""
SEARCH = "the search: a longer one finds a response that explains half of the difference"
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
    longer: float | None = None
    """The ratio after a longer search. None: there was none."""

    def again(self, ratio: float) -> Loose:
        """Returns the bound with the ratio of a longer search. The search is the cause if that
        explains at least half of what the bound is above the response."""
        longer = min(ratio, self.ratio)
        explained = longer < self.ratio and 2 * (longer - 1) <= self.ratio - 1
        return replace(self, longer=longer, cause=SEARCH if explained else self.cause)


def cause_of(terms: Sequence[Any]) -> tuple[str, int]:
    """Returns the kind of terms (Contribution) with the longest time, and that time in ns. Two
    parts are kinds of their own: those that count whole on several CPUs, and those of before."""
    times: Counter[str] = Counter()
    for term in terms:
        whole, before = getattr(term, "whole_ns", 0), getattr(term, "before_ns", 0)
        times[WHOLE] += whole
        times[BEFORE] += before
        times[CAUSES[term.kind]] += term.total_ns - whole - before
    own = times.pop(CAUSES["own"], 0)
    cause, time_ns = max(times.items(), key=lambda each: each[1], default=(NO_TERM, 0))
    if time_ns > 0:
        return cause, time_ns
    return (CAUSES["own"], own) if own else (NO_TERM, 0)


def worst_of(loose: Sequence[Loose], count: int) -> list[Loose]:
    """Returns the bounds with the largest ratios, the largest one first."""
    return sorted(loose, key=lambda each: (-each.ratio, each.seed, each.chain))[:count]


def causes_of(loose: Sequence[Loose]) -> list[tuple[str, int]]:
    """Returns how often each cause occurs, the most frequent one first."""
    return Counter(each.cause for each in loose).most_common()
