# SPDX-License-Identifier: Apache-2.0
"""Whether one executor has more of something than another, or only seems to.

Both run the same applications, so a trial of one is compared with the same trial of the other: a
paired bootstrap over trials (Efron and Tibshirani, "An introduction to the bootstrap", 1993,
chapter 8), by a fixed seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rclrt_experiments.metrics import RESAMPLES, Estimate, interval

Trials = Mapping[int, Sequence[float]]
"""What was observed in each trial."""
Statistic = Callable[[Sequence[float]], float]


@dataclass(frozen=True)
class Comparison:
    """How much more the first has than the second."""

    points: Sequence[Estimate]
    mean: Estimate
    """Of all points."""

    def more(self, *, strictly: bool = True) -> bool | None:
        """True: more (or, unless `strictly`, as much) at each point, and in the mean beyond chance.
        False: less at a point, or no more in the mean, beyond chance. None: these trials are too
        few to tell."""
        if any(each.high < 0 for each in self.points) or self.mean.high <= 0:
            return False
        if self.mean.low <= 0:
            return None
        holds = all(each.value > 0 or (each.value == 0 and not strictly) for each in self.points)
        return holds or None

    def no_less(self) -> bool | None:
        """True: more, or as much, at each point. False: less at one, beyond chance. None: these
        trials are too few to tell."""
        if any(each.high < 0 for each in self.points):
            return False
        return all(each.value >= 0 for each in self.points) or None


def compare(pairs: Sequence[tuple[Trials, Trials]], statistic: Statistic) -> Comparison:
    """The statistic of the first of each pair less that of the second, point by point. Of each pair
    only the trials count in which both have something. Throws ValueError where there is none."""
    draws = random.Random(1)
    values: list[float] = []
    drawn: list[list[float]] = []
    for one, other in pairs:
        trials = [trial for trial, found in sorted(one.items()) if found and other.get(trial)]
        if not trials:
            raise ValueError("no trial has both")
        values.append(_difference(one, other, trials, statistic))
        drawn.append(
            [
                _difference(one, other, draws.choices(trials, k=len(trials)), statistic)
                for _ in range(RESAMPLES if len(trials) > 1 else 1)
            ]
        )
    means = [fmean(each) for each in zip(*drawn, strict=True)]
    return Comparison(
        [interval(value, found) for value, found in zip(values, drawn, strict=True)],
        interval(fmean(values), means),
    )


def all_of(*answers: bool | None) -> bool | None:
    """True if all are, False if one is, else None."""
    if any(each is False for each in answers):
        return False
    return None if None in answers else True


def _difference(one: Trials, other: Trials, trials: Sequence[int], statistic: Statistic) -> float:
    first = [value for trial in trials for value in one[trial]]
    second = [value for trial in trials for value in other[trial]]
    return statistic(first) - statistic(second)
