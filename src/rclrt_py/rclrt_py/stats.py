# SPDX-License-Identifier: Apache-2.0
"""The statistics of a results.json. A percentile is always a measured value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Number = TypeVar("Number", int, float)
NS_PER_MS = 1_000_000


def to_ms(nanoseconds: int) -> float:
    """Converts whole nanoseconds to the nearest value in milliseconds."""
    return nanoseconds / NS_PER_MS


def ms_or_none(nanoseconds: int | None) -> float | None:
    """Converts nanoseconds to milliseconds. None: there is no such time."""
    return None if nanoseconds is None else to_ms(nanoseconds)


def round_half_up(value: float) -> int:
    """Rounds to the nearest whole number, as C's round() does for values that are not negative."""
    whole = math.floor(value)
    return whole + (value - whole >= 0.5)


def nearest_rank(ordered: Sequence[Number], percent: int) -> Number:
    """Returns the percentile by nearest rank: the smallest value that at least `percent` % of the
    ordered values do not exceed. The index is ceil(percent / 100 * n) - 1, computed in integers,
    because 0.99 * n could be rounded to the wrong side."""
    if not ordered:
        raise ValueError("no percentile of nothing")
    if not 0 < percent <= 100:
        raise ValueError(f"percent must be in 1..100, not {percent}")
    return ordered[-(-percent * len(ordered) // 100) - 1]


@dataclass(frozen=True)
class Summary:
    """Best, mean, median, 99th percentile and worst of a distribution, in milliseconds."""

    best: float
    mean: float
    p50: float
    p99: float
    worst: float

    @property
    def jitter(self) -> float:
        return round(self.worst - self.best, 6)

    def to_json(self) -> dict[str, float]:
        return {
            "best": self.best,
            "mean": self.mean,
            "p50": self.p50,
            "p99": self.p99,
            "worst": self.worst,
        }


def summarise(nanoseconds: Iterable[int]) -> Summary | None:
    """Returns the summary of the values. None: there are no values."""
    ordered = sorted(nanoseconds)
    if not ordered:
        return None
    return Summary(
        best=to_ms(ordered[0]),
        mean=to_ms(round_half_up(sum(ordered) / len(ordered))),
        p50=to_ms(nearest_rank(ordered, 50)),
        p99=to_ms(nearest_rank(ordered, 99)),
        worst=to_ms(ordered[-1]),
    )
