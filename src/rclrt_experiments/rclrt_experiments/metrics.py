# SPDX-License-Identifier: Apache-2.0
"""The metrics of the thesis's section 7.1.1, with confidence intervals.

Chains of one application are not independent, so intervals come from a bootstrap over trials. It
draws applications with replacement, each with all of its chains, with a fixed seed (Davison and
Hinkley, "Bootstrap methods and their application", 1997, section 3.8).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

from rclrt_experiments.rows import Row

RESAMPLES, MANY_TRIALS, RESAMPLES_OF_MANY = 1000, 100, 200
"""Numbers of samples that the bootstrap draws: fewer from MANY_TRIALS on. 200 are enough for a
standard error (Efron and Tibshirani, "An introduction to the bootstrap", 1993, section 6.4)."""
CONFIDENCE = 0.95
Values = Sequence[float]


@dataclass(frozen=True)
class Estimate:
    """A value and its confidence interval."""

    value: float
    low: float
    high: float

    def text(self, digits: int = 3) -> str:
        """Returns the text, without the interval if it equals the value, as with one trial."""
        if self.low == self.high:
            return f"{self.value:.{digits}f}"
        return f"{self.value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


def interval(value: float, drawn: Sequence[float]) -> Estimate:
    """Returns `value` with the interval that holds CONFIDENCE of the bootstrap's drawn values."""
    ordered = sorted(drawn)
    tail, last = (1 - CONFIDENCE) / 2, len(ordered) - 1
    return Estimate(value, ordered[round(tail * last)], ordered[round((1 - tail) * last)])


def is_late(row: Row) -> bool:
    """Returns whether the chain certainly missed a deadline in the run `row`: its worst response
    time was longer than its period (thesis, section 7.1.1), or some of its instances were due and
    none ended."""
    return row.missed > 0 and (row.normalised_worst is None or row.normalised_worst > 1)


def resamples(trials: int) -> int:
    """Returns the number of samples that the bootstrap draws; for one trial it is 0."""
    return 0 if trials < 2 else RESAMPLES_OF_MANY if trials > MANY_TRIALS else RESAMPLES


class Sample:
    """The rows of one executor at one point."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._trials: dict[int, list[Row]] = {}
        for row in rows:
            self._trials.setdefault(row.trial, []).append(row)

    @property
    def trials(self) -> int:
        return len(self._trials)

    @cached_property
    def normalised_worst(self) -> list[float]:
        return worsts(self.rows)

    @property
    def median_worst(self) -> Estimate | None:
        """Returns the median of the normalised worst responses of all chains."""
        return self._estimate(worsts, median)

    @property
    def mean_worst(self) -> Estimate | None:
        return self._estimate(worsts, fmean)

    @property
    def mean_jitter(self) -> Estimate | None:
        """Returns the mean of (worst - best response) / period of all chains."""
        return self._estimate(jitters, fmean)

    @property
    def misses(self) -> int:
        """Returns the chains that certainly missed a deadline, of all trials together."""
        return sum(map(is_late, self.rows))

    @property
    def mean_misses(self) -> Estimate | None:
        """The number of chains of an application that certainly missed a deadline, as the mean over
        the applications, with its confidence interval. The thesis calls it the mean minimum
        deadline misses. None: there are no rows."""
        return self._estimate(lates, fmean)

    def by_trial(self, values: Callable[[Iterable[Row]], list[float]]) -> dict[int, list[float]]:
        """Returns the values of each trial. `values`: `worsts`, `jitters` or `lates`."""
        return {trial: values(rows) for trial, rows in self._trials.items()}

    def _estimate(
        self, values: Callable[[Iterable[Row]], list[float]], statistic: Callable[[Values], float]
    ) -> Estimate | None:
        by_trial = list(self.by_trial(values).values())
        flat = [value for own in by_trial for value in own]
        if not flat:
            return None
        draws = random.Random(1)
        count = len(by_trial)
        sums = [(sum(own), len(own)) for own in by_trial] if statistic is fmean else []
        found = []
        for _ in range(resamples(count)):
            places = [int(draws.random() * count) for _ in range(count)]
            if sums:  # the mean of all values, from the trials' sums
                total = sum(sums[place][0] for place in places)
                size = sum(sums[place][1] for place in places)
                if size:
                    found.append(total / size)
                continue
            chosen = [value for place in places for value in by_trial[place]]
            if chosen:
                found.append(statistic(chosen))
        whole = statistic(flat)
        if not found:
            return Estimate(whole, whole, whole)
        return interval(whole, found)


def worsts(rows: Iterable[Row]) -> list[float]:
    return [row.normalised_worst for row in rows if row.normalised_worst is not None]


def jitters(rows: Iterable[Row]) -> list[float]:
    return [row.jitter for row in rows if row.jitter is not None]


def lates(rows: Iterable[Row]) -> list[float]:
    """Returns one value: the late chains of a trial's rows."""
    return [float(sum(map(is_late, rows)))]


class Results:
    """All rows, by experiment, point and executor."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str, str], list[Row]] = {}
        self.executors: dict[str, list[str]] = {}
        """Executors of each experiment, in the order of the rows."""
        for row in rows:
            self._rows.setdefault((row.experiment, row.varied, row.executor), []).append(row)
            known = self.executors.setdefault(row.experiment, [])
            if row.executor not in known:
                known.append(row.executor)
        self._samples: dict[tuple[str, str, str, str], Sample] = {}

    def sample(self, experiment: str, varied: str, executor: str, chain: str = "") -> Sample:
        """Returns the rows of all chains, or of `chain`."""
        key = (experiment, varied, executor, chain)
        if key not in self._samples:
            rows = self._rows.get(key[:3], [])
            own = [row for row in rows if chain in ("", row.chain)]
            self._samples[key] = Sample(own)
        return self._samples[key]
