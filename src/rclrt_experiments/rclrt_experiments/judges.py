# SPDX-License-Identifier: Apache-2.0
"""Judges of claims: decide from rows whether a claim holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import isinf
from statistics import fmean, median

from rclrt_experiments.comparison import Comparison, all_of, highest_share
from rclrt_experiments.metrics import Sample, is_late
from rclrt_experiments.published import (
    FLAT,
    LENGTHS,
    LEVELS,
    MEAN_JITTER,
    MEAN_MISSES,
    MEDIAN_WORST,
    OURS,
    PC,
    STANDARD,
    SYN,
    TD,
    TRIALS,
    Evidence,
    Metric,
    NotComparableError,
    Place,
    compare_trials,
    falls,
    rises,
    shown,
)
from rclrt_experiments.rows import OverheadRow

NAMES = {STANDARD: "standard", PC: "PC", TD: "TD", SYN: "TD + synthesis", OURS: "ours"}
NEW = (PC, TD)
BUSY, SHORT, IDLE = "length 4, 60 %", "length 1, 60 %", "length 1, 15 %"
CHANCE = 0.05
"""Significance level: a result that chance gives less often than this is not chance."""
CLEAN = 50
"""Number of applications without a miss that shows that misses are rare: less than 6 % (rule of
three). The thesis has as many at each point."""
SMALL = 0.05
"""Least relative improvement of a median that counts. The thesis has 0.07 at length 9."""
ABOVE_20 = 20
MANY = 10 * TRIALS
"""Number of trials that is enough to estimate how often TRIALS of them show no miss."""
ALIKE = 100
"""If none of so many trials differs, less than 3 in 100 would (rule of three)."""

Found = tuple[bool | None, str]
Time = Callable[[OverheadRow], float]


def middle(row: OverheadRow) -> float:
    return row.p50_us


def width(row: OverheadRow) -> float:
    return row.p98_us - row.p2_us


def longest(row: OverheadRow) -> float:
    return row.worst_us


def standard_takes(evidence: Evidence, point: str, time: Time, what: str, *, more: bool) -> Found:
    """Judges whether the time of standard is longer than those of PC and TD (or shorter)."""
    found = {name: evidence.launches(point, name, time) for name in (STANDARD, *NEW)}
    answers = []
    for name in NEW:
        pair = (found[STANDARD], found[name]) if more else (found[name], found[STANDARD])
        answers.append(compare_trials([pair], median).more())
    middles = (
        f"{NAMES[name]} {median([value for own in trials.values() for value in own]):.1f} µs"
        for name, trials in found.items()
    )
    return all_of(*answers), f"{what}, median of the trials: {', '.join(middles)}"


def _counts(evidence: Evidence, place: Place, executors: Sequence[str]) -> str:
    """Returns the chain-runs that missed and their total, at each point."""
    lines = (
        f"{NAMES[name]} {' '.join(map(str, evidence.misses(place, name)))}" for name in executors
    )
    counts = {len(own.rows) for name in executors for own in evidence.samples(place, name)}
    of = f" of {counts.pop()} at each" if len(counts) == 1 else ""
    return "; ".join(lines) + of


def _by(comparison: Comparison, one: str, other: str) -> str:
    """Returns the mean difference of two executors or lengths, with its confidence interval."""
    mean = comparison.mean
    if isinf(mean.high):
        return f"{one} and {other}: no trial differs"
    return f"{one} less {other} in the mean: {mean.text()}"


def _values(evidence: Evidence, place: Place, executors: Sequence[str], metric: Metric) -> str:
    lines = (f"{NAMES[name]} {shown(evidence.series(place, name, metric))}" for name in executors)
    return "; ".join(lines)


def has_more(
    evidence: Evidence,
    place: Place,
    high: str,
    low: Sequence[str],
    metric: Metric,
    *,
    strictly: bool = True,
) -> Found:
    """Judges whether one executor has more than each of the others, at each point."""
    say = _counts if metric is MEAN_MISSES else partial(_values, metric=metric)
    answers = []
    said = [say(evidence, place, (high, *low))]
    for other in low:
        found = evidence.compare(place, high, other, metric)
        answers.append(found.more(strictly=strictly))
        said.append(_by(found, NAMES[high], NAMES[other]))
        if strictly and isinf(found.mean.high) and found.trials >= ALIKE:
            answers[-1] = False
    return all_of(*answers), "; ".join(said)


def ours_misses_no_more(evidence: Evidence, place: Place) -> Found:
    answers = (evidence.compare(place, name, OURS, MEAN_MISSES).no_less() for name in NEW)
    return all_of(*answers), _counts(evidence, place, (*NEW, OURS))


def in_the_mean(
    evidence: Evidence, place: Place, executors: Sequence[str], other: str, metric: Metric, *,
    more: bool,
) -> Found:  # fmt: skip
    """Judges whether each executor has more (or less) than the other, in the mean of all points."""
    answers: list[bool | None] = []
    said = []
    for name in executors:
        pair = (name, other) if more else (other, name)
        mean = evidence.compare(place, *pair, metric).mean
        answers.append(True if mean.low > 0 else False if mean.high < 0 else None)
        value, of_other = (fmean(evidence.series(place, each, metric)) for each in (name, other))
        if metric is MEAN_JITTER and value > 0:
            change = 100 * (of_other / value - 1)
            by = f"by {abs(change):.0f} % {'more' if change >= 0 else 'less'}"
            said.append(f"{NAMES[other]} {by} than {NAMES[name]}")
        else:
            said.append(f"{NAMES[name]} {_ratio(value, of_other)} that of {NAMES[other]}")
        said.append(f"the difference: {mean.text()}")
    return all_of(*answers), "; ".join(said)


def miss_nothing(evidence: Evidence, place: Place, executors: Sequence[str]) -> Found:
    """Judges whether no chain missed."""
    answers = (_is_clean(evidence.samples(place, name)) for name in executors)
    return all_of(*answers), _counts(evidence, place, executors)


def _is_clean(samples: Sequence[Sample]) -> bool | None:
    """Judges whether an executor misses no deadline, as published. True: none of at least CLEAN
    applications missed, or so few of at least MANY trials that none in TRIALS, as published, is
    likely. False: more trials have a miss than chance explains if none of the published ones has
    (the conditional test of two Poisson counts). None: the trials do not decide. A trial counts
    once, because its applications are alike at all points."""
    late = {row.trial for own in samples for row in own.rows if is_late(row)}
    trials = samples[0].trials
    if late:
        if (trials / (TRIALS + trials)) ** len(late) < CHANCE:
            return False
        often = highest_share(len(late), trials)
        return True if trials >= MANY and (1 - often) ** TRIALS >= CHANCE else None
    return True if sum(own.trials for own in samples) >= CLEAN else None


def misses_something(evidence: Evidence, place: Place, executor: str, published: int) -> Found:
    """Judges whether a chain missed a deadline under this executor, as in `published` of the
    published trials. True: one did. False: none did, and chance does not explain that (the
    conditional test of two Poisson counts: the probability that all trials with a miss are among
    the published ones). None: the trials do not decide."""
    (found,), (sample,) = evidence.misses(place, executor), evidence.samples(place, executor)
    chance = (TRIALS / (TRIALS + sample.trials)) ** published
    said = _counts(evidence, place, (executor,))
    return True if found > 0 else False if chance < CHANCE else None, said


def misses_rise(evidence: Evidence) -> Found:
    place = Place("utilisation", LEVELS)
    answers: list[bool | None] = []
    for name in (STANDARD, *NEW):
        first, *_, last = evidence.observed(place, name, MEAN_MISSES)
        by = compare_trials([(last, first)], fmean).mean
        holds = rises(evidence.misses(place, name)) and by.low > 0
        answers.append(True if holds else False if by.high < 0 else None)
    return all_of(*answers), _counts(evidence, place, (STANDARD, *NEW))


def standard_misses_above_20(evidence: Evidence) -> Found:
    place = Place("chain-length", LENGTHS)
    limit = ABOVE_20 / TRIALS
    answers: list[bool | None] = []
    for trials in evidence.observed(place, STANDARD, MEAN_MISSES):
        none = {trial: [0.0] for trial in trials}
        (by,) = compare_trials([(trials, none)], fmean).points
        high = by.high if by.value > 0 else 3 / len(trials)  # rule of three
        answers.append(True if by.low > limit else False if high < limit else None)
    return all_of(*answers), _counts(evidence, place, (STANDARD,))


def grows(evidence: Evidence, executor: str, metric: Metric, points: Sequence[str]) -> Found:
    """Judges whether an executor has more at the second of two chain lengths than at the first."""
    place = Place("chain-length", points)
    before, after = evidence.observed(place, executor, metric)
    found = compare_trials([(after, before)], metric.statistic)
    by = found.mean
    say = _counts if metric is MEAN_MISSES else partial(_values, metric=metric)
    holds = True if by.low > 0 else False if by.high < 0 else None
    said = _by(found, f"length {points[1]}", f"length {points[0]}")
    return holds, f"{say(evidence, place, (executor,))}; {said}"


def fall_with_length(evidence: Evidence, executors: Sequence[str], metric: Metric) -> Found:
    """Judges whether the metric of each executor falls with the length of the chains."""
    place = Place("chain-length", LENGTHS)
    said = _values(evidence, place, executors, metric)
    return all_of(*(_falls(evidence, place, name, metric) for name in executors)), said


def _falls(evidence: Evidence, place: Place, executor: str, metric: Metric) -> bool | None:
    """Returns whether the metric falls by more than FLAT of its first value, beyond chance."""
    observed = evidence.observed(place, executor, metric)
    values = list(map(metric.of, observed))
    by = compare_trials([(observed[0], observed[-1])], metric.statistic).mean
    if falls(values) and by.value > values[0] * FLAT and by.low > 0:
        return True
    return False if values[0] > 0 and by.high < values[0] * FLAT else None


def standard_does_not_fall(evidence: Evidence) -> Found:
    place = Place("chain-length", LENGTHS)
    first, *_, last = observed = evidence.observed(place, STANDARD, MEDIAN_WORST)
    by = compare_trials([(first, last)], median).mean
    limit = FLAT * MEDIAN_WORST.of(first)
    said = f"standard {shown([MEDIAN_WORST.of(each) for each in observed])}"
    return True if by.high < limit else False if by.low > limit else None, said


def urgent_has_less(evidence: Evidence, metric: Metric) -> Found:
    """Judges whether chain 0 has less than chain 2 under PC and TD, at each length."""
    answers, said = [], []
    for name in NEW:
        urgent, other = (
            evidence.observed(Place("priority-chain", LENGTHS, chain), name, metric)
            for chain in ("chain0", "chain2")
        )
        pairs = list(zip(other, urgent, strict=True))
        found = compare_trials(pairs, metric.statistic)
        answers.append(found.more(strictly=False))
        said.append(
            f"{NAMES[name]} {shown(list(map(metric.of, urgent)))} and "
            f"{shown(list(map(metric.of, other)))} ({_by(found, 'chain 2', 'chain 0')})"
        )
    return all_of(*answers), f"chain 0 and 2: {'; '.join(said)}"


def urgent_misses_nothing(evidence: Evidence) -> Found:
    place = Place("priority-chain", LENGTHS[-1:], "chain0")
    clean = _is_clean(evidence.samples(place, TD))
    missed, _ = misses_something(evidence, place, STANDARD, published=24)
    return all_of(clean, missed), _counts(evidence, place, (STANDARD, TD))


def _require_changes(evidence: Evidence, place: Place) -> None:
    """Throws NotComparableError if synthesis changes nothing there, or if that is not known."""
    if evidence.unchanged is None:
        raise NotComparableError("not simulated, so what synthesis changes is not known")
    for point in place.points:
        if (place.experiment, point) in evidence.unchanged:
            raise NotComparableError("synthesis changes no simulated time of these applications")


def synthesis_helps(evidence: Evidence, place: Place) -> Found:
    _require_changes(evidence, place)
    return has_more(evidence, place, TD, (SYN,), MEDIAN_WORST)


def synthesis_does_not_help(evidence: Evidence, place: Place) -> Found:
    (trials,) = (own.trials for own in evidence.samples(place, SYN))
    if (
        trials >= ALIKE
        and evidence.unchanged is not None
        and all((place.experiment, point) in evidence.unchanged for point in place.points)
    ):
        return True, f"synthesis changes no simulated time of {trials} applications"
    _require_changes(evidence, place)
    found = evidence.compare(place, TD, SYN, MEDIAN_WORST)
    by = found.mean
    (before,) = evidence.series(place, TD, MEDIAN_WORST)
    said = (
        f"{_values(evidence, place, (TD, SYN), MEDIAN_WORST)}; {_by(found, NAMES[TD], NAMES[SYN])}"
    )
    return False if by.low > 0 else True if by.high < SMALL * before else None, said


def _ratio(one: float, other: float) -> str:
    return f"{one / other:.2f} times" if other > 0 else f"{one:.3f}, not comparable with the 0"
