# SPDX-License-Identifier: Apache-2.0
"""A logarithmic scale of a picture, and colours for its series."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

COLOURS = ("#8a8a8a", "#b8860b", "#5b7fbf", "#a0522d", "#c0392b", "#2e8b57", "#7d3c98", "#16a085")


@dataclass(frozen=True)
class LogScale:
    """Maps positive values to places between two ends, decade by decade."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def around(cls, values: Sequence[float], start: float, end: float) -> LogScale:
        low = 10 ** math.floor(math.log10(max(min(values), 0.1)))
        high = 10 ** math.ceil(math.log10(max(*values, low * 10)))
        return cls(low, high, start, end)

    def __call__(self, value: float) -> float:
        part = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return self.start + (self.end - self.start) * part

    def ticks(self) -> Iterator[float]:
        tick = self.low
        while tick <= self.high * 1.001:
            yield tick
            tick *= 10
