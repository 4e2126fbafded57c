# SPDX-License-Identifier: Apache-2.0
"""Compares two executors by paired trials: tests whether a difference of their results is larger
than chance explains.

Both executors run the same applications, so each trial of one executor is compared with the same
trial of the other. The applications of one trial are alike at all points of an experiment, so
trials are the independent samples: the bootstrap draws trials, once for both executors and all
points, with a fixed seed (Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapters
6 and 8). The bootstrap gives the standard error. The interval uses Student's t for the number of
trials, because a bootstrap's percentiles are too narrow if there are few trials.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from statistics import NormalDist, fmean, stdev

from rclrt_experiments.metrics import CONFIDENCE, Estimate, resamples

Trials = Mapping[int, Sequence[float]]
"""The values observed in each trial."""
Statistic = Callable[[Sequence[float]], float]


@dataclass(frozen=True)
class Comparison:
    """The difference of the first minus the second."""

    points: Sequence[Estimate]
    """Difference at each point. The intervals hold jointly for all points and a second comparison
    (Bonferroni)."""
    mean: Estimate
    """Mean difference of all points."""
    trials: int = 0
    """Number of trials that both have, at the point with the fewest."""

    def more(self, *, strictly: bool = True) -> bool | None:
        """Returns whether the first executor has a higher value than the second, as far as chance
        allows an answer.

        True: its value is higher at each point (or equal, unless `strictly`), and higher in the
        mean by more than chance explains. False: its value is lower at some point or in the mean,
        by more than chance explains. None: the trials do not decide.
        """
        if any(each.high < 0 for each in self.points) or self.mean.high < 0:
            return False
        if self.mean.low <= 0:
            return None
        holds = all(each.value > 0 or (each.value == 0 and not strictly) for each in self.points)
        return holds or None

    def no_less(self) -> bool | None:
        """Returns whether the first executor's value is at least the second's. True: it is, at each
        point. False: it is lower at some point, by more than chance explains. None: the trials do
        not decide."""
        if any(each.high < 0 for each in self.points):
            return False
        return all(each.value >= 0 for each in self.points) or None


def compare(pairs: Sequence[tuple[Trials, Trials]], statistic: Statistic) -> Comparison:
    """Compares two executors at each point of an experiment. `pairs` has, for each point, the
    values of the first and of the second executor. Returns the statistic of the first minus that of
    the second. Only trials in which both have a value count. Throws ValueError if a point has no
    such trial."""
    common = [{n for n, found in one.items() if found and other.get(n)} for one, other in pairs]
    if not all(common):
        raise ValueError("no trial has both")
    trials = sorted(set.union(*common))

    difference = _difference_of_means(pairs) if statistic is fmean else None

    def differences(drawn: Sequence[int]) -> list[float]:
        return [
            difference(place, chosen) if difference else _difference(pair, chosen, statistic)
            for place, (pair, both) in enumerate(zip(pairs, common, strict=True))
            for chosen in [drawn if len(both) == len(trials) else [n for n in drawn if n in both]]
        ]

    draws = random.Random(1)
    found: list[list[float]] = []
    while len(found) < (resamples(len(trials)) or 2):
        drawn = draws.choices(trials, k=len(trials))
        if all(any(n in both for n in drawn) for both in common):
            found.append(differences(drawn))
    values = differences(trials)
    fewest = min(map(len, common))
    return Comparison(
        [
            _interval(value, column, fewest, 2 * len(pairs))
            for value, column in zip(values, zip(*found, strict=True), strict=True)
        ],
        _interval(fmean(values), [fmean(row) for row in found], fewest, 1),
        fewest,
    )


def highest_share(count: int, of: int) -> float:
    """Returns the upper confidence limit (level CONFIDENCE) of a probability if an event occurred
    `count` times in `of` trials. This is the score interval (Wilson, "Probable inference, the law
    of succession, and statistical inference", JASA 22, 1927)."""
    z = NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / 2)
    share = count / of
    middle = share + z * z / (2 * of)
    half = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return (middle + half) / (1 + z * z / of)


def all_of(*answers: bool | None) -> bool | None:
    """Returns True if all are True, False if one is False, else None."""
    if any(each is False for each in answers):
        return False
    return None if None in answers else True


def _difference(pair: tuple[Trials, Trials], trials: Sequence[int], statistic: Statistic) -> float:
    first, second = ([value for trial in trials for value in own[trial]] for own in pair)
    return statistic(first) - statistic(second)


def _difference_of_means(
    pairs: Sequence[tuple[Trials, Trials]],
) -> Callable[[int, Sequence[int]], float]:
    """Returns a fast form of _difference() for means: a function of a point's index and the drawn
    trials. It uses the sum of each trial, which is computed only once for all drawn samples."""
    sums = [
        [{n: (sum(values), len(values)) for n, values in own.items()} for own in pair]
        for pair in pairs
    ]

    def difference(place: int, trials: Sequence[int]) -> float:
        means = []
        for own in sums[place]:
            found = [own[n] for n in trials]
            means.append(sum(each[0] for each in found) / sum(each[1] for each in found))
        return means[0] - means[1]

    return difference


def _interval(value: float, drawn: Sequence[float], trials: int, together: int) -> Estimate:
    """Returns `value` with a confidence interval by the standard error of the bootstrap's `drawn`
    values. The interval is so wide that `together` such intervals hold jointly with CONFIDENCE
    (Bonferroni)."""
    if trials < 2:
        return Estimate(value, value, value)
    error = stdev(drawn) * sqrt(trials / (trials - 1))
    if error == 0 and value == 0:  # no trial differs: the spread of others is unknown
        return Estimate(value, -inf, inf)
    half = error * student_t(1 - (1 - CONFIDENCE) / 2 / together, trials - 1)
    return Estimate(value, value - half, value + half)


def student_t(share: float, degrees: int) -> float:
    """Returns the quantile of Student's t distribution at the probability `share`, by Hill's
    expansion about the normal quantile (Abramowitz and Stegun, "Handbook of mathematical
    functions", 1964, 26.7.5). The error is below 4 % from 4 degrees of freedom on."""
    z = NormalDist().inv_cdf(share)
    return (
        z
        + (z**3 + z) / (4 * degrees)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * degrees**3)
    )
