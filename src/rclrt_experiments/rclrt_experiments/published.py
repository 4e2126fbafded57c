# SPDX-License-Identifier: Apache-2.0
"""What the thesis published in chapter 7: its tables, and the claims of its text.

A claim is judged by ordering and trend, never by digits: machines, workloads and ROS differ. Values
that stand in figures only are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rclrt_experiments.metrics import Estimate, Results, Sample
from rclrt_experiments.rows import OverheadRow

STANDARD, PC, TD, SYN = (
    "wait_set", "producer_consumer", "thread_dispatch", "thread_dispatch+synthesis",
)  # fmt: skip
OURS = "preemptive"
LEVELS = tuple(f"{n} %" for n in range(10, 100, 10))
LENGTHS = ("2", "4", "6", "8", "10")
SYNC_LENGTHS = ("30 %, length 3", "30 %, length 6", "30 %, length 9")
TABLE_7_4: Mapping[str, Sequence[int]] = {
    STANDARD: (5, 13, 17, 36, 40, 57, 70, 96, 103),
    PC: (1, 0, 1, 4, 1, 2, 5, 10, 102),
    TD: (0, 0, 0, 0, 0, 1, 2, 13, 62),
}
TABLE_7_6: Mapping[str, Sequence[float]] = {
    STANDARD: (0.398, 0.422, 0.408, 0.416, 0.415),
    PC: (0.357, 0.319, 0.275, 0.257, 0.238),
    TD: (0.360, 0.317, 0.274, 0.253, 0.239),
}
TABLE_7_9: Mapping[str, Sequence[float]] = {
    STANDARD: (0.213, 0.268, 0.292),
    TD: (0.210, 0.232, 0.251),
    SYN: (0.223, 0.220, 0.234),
}
TRIALS = 50
"""Of each point of the thesis's experiments."""
FEWEST_TRIALS = 5
"""With fewer nothing is said."""
FLAT = 0.1
"""A median that changes by less than this part of it does not fall."""
TREND = 0.8
"""The share of pairs of points whose order must be that of a trend."""


class NotComparableError(Exception):
    """The rows say nothing of the claim; the message is the reason."""


@dataclass(frozen=True)
class Evidence:
    """What claims are judged by."""

    results: Results
    overheads: Sequence[OverheadRow]
    simulated: bool

    def sample(self, experiment: str, point: str, executor: str, chain: str = "") -> Sample:
        """Throws NotComparableError where there are too few trials."""
        own = self.results.sample(experiment, point, executor, chain)
        if own.trials < FEWEST_TRIALS:
            raise NotComparableError(
                f"{own.trials} trials of {executor} at '{point}'; {FEWEST_TRIALS} are needed"
            )
        return own

    def series(
        self,
        experiment: str,
        points: Sequence[str],
        executor: str,
        metric: Callable[[Sample], Estimate | None],
        chain: str = "",
    ) -> list[float]:
        """The values of a metric at each point."""
        found = [metric(self.sample(experiment, point, executor, chain)) for point in points]
        if any(each is None for each in found):
            raise NotComparableError(f"a point of {executor} has no response")
        return [each.value for each in found if each is not None]

    def misses(
        self, experiment: str, points: Sequence[str], executor: str, chain: str = ""
    ) -> list[int]:
        return [self.sample(experiment, point, executor, chain).misses for point in points]

    def launches(self, point: str, executor: str) -> list[OverheadRow]:
        """Throws NotComparableError of a simulation, which takes the overheads that it is told."""
        if self.simulated:
            raise NotComparableError(
                "a simulation takes the overheads that its file states; only runs measure them"
            )
        rows = [
            row
            for row in self.overheads
            if (row.experiment, row.varied, row.executor, row.measure)
            == ("overhead", point, executor, "launch")
        ]
        if len(rows) < FEWEST_TRIALS:
            raise NotComparableError(f"{len(rows)} trials of {executor}; {FEWEST_TRIALS} needed")
        return rows


Judge = Callable[[Evidence], tuple[bool, str]]
"""Whether the claim came out, and what was observed."""


@dataclass(frozen=True)
class Claim:
    """One published statement."""

    section: str
    text: str
    judge: Judge
    why_not: str = ""
    """What differs from the thesis's setting where the claim does not come out."""


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict: reproduced, not reproduced or not comparable."""

    claim: Claim
    verdict: str
    observed: str


def judge(claim: Claim, evidence: Evidence) -> Judged:
    try:
        holds, observed = claim.judge(evidence)
    except NotComparableError as why:
        return Judged(claim, "not comparable", str(why))
    if holds:
        return Judged(claim, "reproduced", observed)
    return Judged(claim, "not reproduced", f"{observed}. {claim.why_not}".rstrip(". ") + ".")


def rises(values: Sequence[float]) -> bool:
    """Most pairs are in ascending order, and the last is above the first."""
    pairs = [(a, b) for n, a in enumerate(values) for b in values[n + 1 :]]
    return values[-1] > values[0] and sum(a <= b for a, b in pairs) >= TREND * len(pairs)


def falls(values: Sequence[float]) -> bool:
    return rises([-value for value in values])


def shown(values: Sequence[float], digits: int = 3) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)
