# SPDX-License-Identifier: Apache-2.0
"""The results that the thesis publishes in chapter 7: its tables and the claims in its text.

A claim is judged by order and trend, never by digits, because machines, workloads and versions of
ROS differ. Values that the thesis shows only in figures are not used.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from rclrt_experiments.comparison import Comparison, Statistic, Trials, compare
from rclrt_experiments.metrics import Results, Sample, jitters, lates, worsts
from rclrt_experiments.rows import OverheadRow, Row

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
"""Trials of each point in the thesis's experiments."""
FEWEST_TRIALS = 5
"""With fewer trials, a claim is not comparable."""
FLAT = 0.1
"""Relative change below which a median does not fall."""
TREND = 0.8
"""Share of pairs of points that must be in the order of a trend."""


class NotComparableError(Exception):
    """Thrown if the rows cannot decide the claim. The message is the reason."""


@dataclass(frozen=True)
class Metric:
    """A metric of the chains of one executor at one point."""

    values: Callable[[Iterable[Row]], list[float]]
    """Returns the values of one trial."""
    statistic: Statistic
    """Combines the values of all trials."""

    def of(self, trials: Trials) -> float:
        return self.statistic([value for own in trials.values() for value in own])


MEDIAN_WORST, MEAN_WORST = Metric(worsts, median), Metric(worsts, fmean)
MEAN_JITTER, MEAN_MISSES = Metric(jitters, fmean), Metric(lates, fmean)


@dataclass(frozen=True)
class Place:
    """Points of an experiment, and one of its chains (empty: all chains)."""

    experiment: str
    points: Sequence[str]
    chain: str = ""


@dataclass(frozen=True)
class Evidence:
    """The data by which claims are judged."""

    results: Results
    overheads: Sequence[OverheadRow]
    simulated: bool
    """Whether the rows come from a simulation."""
    unchanged: Container[tuple[str, str]] | None = ()
    """Experiments and points where synthesis changes no simulated time; None: not known."""
    thesis: bool = False
    """Whether times count as in the thesis: from the start of a chain's first callback."""

    def samples(self, place: Place, executor: str) -> list[Sample]:
        """Returns the results of an executor at each point of `place`. Throws NotComparableError if
        a point has fewer than FEWEST_TRIALS trials, or if times must count as in the thesis and the
        rows do not have such times."""
        found = []
        for point in place.points:
            own = self.results.sample(place.experiment, point, executor, place.chain)
            if own.trials < FEWEST_TRIALS:
                raise NotComparableError(
                    f"{own.trials} trials of {executor} at '{point}'; {FEWEST_TRIALS} are needed"
                )
            found.append(own)
        rows = (row for own in found for row in own.rows)
        if self.thesis and all(row.from_start_worst is None for row in rows):
            raise NotComparableError(
                "these runs have no response times from the start of a chain's first callback, "
                "which the thesis states; measure again"
            )
        return found

    def observed(self, place: Place, executor: str, metric: Metric) -> list[Trials]:
        """Returns the values of each trial, at each point."""
        samples = self.samples(place, executor)
        found: list[Trials] = [each.by_trial(metric.values) for each in samples]
        if not all(any(trials.values()) for trials in found):
            raise NotComparableError(f"no instance under {executor} ended at one of the points")
        return found

    def series(self, place: Place, executor: str, metric: Metric) -> list[float]:
        """Returns the values of a metric at each point."""
        return [metric.of(trials) for trials in self.observed(place, executor, metric)]

    def misses(self, place: Place, executor: str) -> list[int]:
        """Returns the chain-runs at each point that certainly missed a deadline."""
        return [sample.misses for sample in self.samples(place, executor)]

    def compare(self, place: Place, one: str, other: str, metric: Metric) -> Comparison:
        """Compares the metric of two executors."""
        pairs = zip(
            self.observed(place, one, metric), self.observed(place, other, metric), strict=True
        )
        return compare_trials(list(pairs), metric.statistic)

    def launches(self, point: str, executor: str, of: Callable[[OverheadRow], float]) -> Trials:
        """Returns one launch time for each trial: what `of` takes from the trial's overheads.
        Throws NotComparableError if there are too few trials, or for a simulation, because a
        simulation does not measure overheads but gets them as inputs."""
        if self.simulated:
            raise NotComparableError(
                "a simulation takes the overheads that its file states; only runs measure them"
            )
        found = {
            row.trial: [of(row)]
            for row in self.overheads
            if (row.experiment, row.varied, row.executor, row.measure)
            == ("overhead", point, executor, "launch")
        }
        if len(found) < FEWEST_TRIALS:
            raise NotComparableError(f"{len(found)} trials of {executor}; {FEWEST_TRIALS} needed")
        return found


def compare_trials(pairs: Sequence[tuple[Trials, Trials]], statistic: Statistic) -> Comparison:
    """Like compare(), but throws NotComparableError."""
    try:
        return compare(pairs, statistic)
    except ValueError as why:
        raise NotComparableError(str(why)) from why


Judge = Callable[[Evidence], tuple[bool | None, str]]
"""Returns whether the claim holds (None: too few trials to decide) and the observed values."""


@dataclass(frozen=True)
class Claim:
    """A statement of the thesis, or an additional one of ours."""

    section: str
    text: str
    judge: Judge
    why_not: str = ""
    """A possible cause if the claim does not hold."""
    in_phase: bool = False
    """Whether IN_PHASE may also be a cause, by our measure."""
    otherwise: str = ""
    """How the thesis's measurement differs. The claim is then never comparable."""
    published: bool = True


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict: reproduced, not reproduced or not comparable."""

    claim: Claim
    verdict: str
    observed: str


IN_PHASE = (
    "here a response starts at the nominal release and all timers start together; the thesis "
    "starts to count when the timer's callback starts, which hides the wait before it"
)


def judge(claim: Claim, evidence: Evidence) -> Judged:
    try:
        holds, observed = claim.judge(evidence)
    except NotComparableError as why:
        return Judged(claim, "not comparable", str(why))
    if claim.otherwise:
        came = {True: "It is so here", False: "It is not so here", None: "It is open here"}[holds]
        return Judged(claim, "not comparable", f"{observed}. {came}. {claim.otherwise}.")
    if holds:
        return Judged(claim, "reproduced", f"{observed}.")
    counted = IN_PHASE if claim.in_phase and not evidence.thesis else ""
    causes = ". ".join(each for each in (counted, claim.why_not) if each)
    if holds is None:
        cause = f" Possible difference from the thesis: {causes}." if causes else ""
        return Judged(claim, "not comparable", f"{observed}: these trials do not decide it.{cause}")
    cause = f" Possible cause: {causes}." if causes else ""
    return Judged(claim, "not reproduced", f"{observed}.{cause}")


def rises(values: Sequence[float]) -> bool:
    """Returns whether most pairs are in ascending order and the last value is above the first."""
    pairs = [(a, b) for n, a in enumerate(values) for b in values[n + 1 :]]
    return values[-1] > values[0] and sum(a <= b for a, b in pairs) >= TREND * len(pairs)


def falls(values: Sequence[float]) -> bool:
    return rises([-value for value in values])


def shown(values: Sequence[float], digits: int = 3) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)
