# SPDX-License-Identifier: Apache-2.0
"""The metrics of the thesis's section 7.1.1, with confidence intervals.

Chains of one application are not independent, so intervals come from a bootstrap over trials: the
applications are drawn anew with replacement, each with all of its chains (Davison and Hinkley,
"Bootstrap methods and their application", 1997, section 3.8), by a fixed seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

from rclrt_experiments.rows import Row

RESAMPLES = 1000
CONFIDENCE = 0.95
Values = Sequence[float]


@dataclass(frozen=True)
class Estimate:
    """A value and its confidence interval."""

    value: float
    low: float
    high: float

    def text(self, digits: int = 3) -> str:
        return f"{self.value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


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
        return _worst(self.rows)

    @property
    def median_worst(self) -> Estimate | None:
        """The median of the normalised worst responses of all chains."""
        return self._estimate(_worst, median)

    @property
    def mean_worst(self) -> Estimate | None:
        return self._estimate(_worst, fmean)

    @property
    def mean_jitter(self) -> Estimate | None:
        """The mean of (worst - best response) / period of all chains."""
        return self._estimate(_jitter, fmean)

    @property
    def misses(self) -> int:
        """Chains that missed a deadline at least once, of all trials together."""
        return sum(row.missed > 0 for row in self.rows)

    @property
    def mean_misses(self) -> Estimate | None:
        """Chains of an application that missed a deadline at least once: the mean of all trials,
        which is the thesis's mean minimum deadline misses."""
        return self._estimate(_missed_by_trial, fmean)

    def _estimate(
        self, values: Callable[[Iterable[Row]], list[float]], statistic: Callable[[Values], float]
    ) -> Estimate | None:
        by_trial = [values(rows) for rows in self._trials.values()]
        flat = [value for own in by_trial for value in own]
        if not flat:
            return None
        draws = random.Random(1)
        count = len(by_trial)
        found = []
        for _ in range(RESAMPLES if count > 1 else 0):
            chosen = [
                value
                for _ in range(count)
                for value in by_trial[int(draws.random() * count)]
            ]  # fmt: skip
            if chosen:
                found.append(statistic(chosen))
        whole = statistic(flat)
        if not found:
            return Estimate(whole, whole, whole)
        found.sort()
        tail = (1 - CONFIDENCE) / 2
        last = len(found) - 1
        return Estimate(whole, found[round(tail * last)], found[round((1 - tail) * last)])


def _worst(rows: Iterable[Row]) -> list[float]:
    return [row.normalised_worst for row in rows if row.normalised_worst is not None]


def _jitter(rows: Iterable[Row]) -> list[float]:
    return [row.jitter for row in rows if row.jitter is not None]


def _missed_by_trial(rows: Iterable[Row]) -> list[float]:
    """One value, for the rows of one trial."""
    return [float(sum(row.missed > 0 for row in rows))]


class Results:
    """All rows, by experiment, point and executor."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str, str], list[Row]] = {}
        self.executors: dict[str, list[str]] = {}
        """Of each experiment, in the order of the rows."""
        for row in rows:
            self._rows.setdefault((row.experiment, row.varied, row.executor), []).append(row)
            known = self.executors.setdefault(row.experiment, [])
            if row.executor not in known:
                known.append(row.executor)
        self._samples: dict[tuple[str, str, str, str], Sample] = {}

    def sample(self, experiment: str, varied: str, executor: str, chain: str = "") -> Sample:
        """Of all chains, or of one."""
        key = (experiment, varied, executor, chain)
        if key not in self._samples:
            rows = self._rows.get(key[:3], [])
            own = [row for row in rows if chain in ("", row.chain)]
            self._samples[key] = Sample(own)
        return self._samples[key]
