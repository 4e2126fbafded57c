# SPDX-License-Identifier: Apache-2.0
"""The axes of the pictures: from nanoseconds to places, and back to words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

STEPS = (1, 2, 5, 10)


@dataclass(frozen=True)
class Scale:
    """Linear, or logarithmic with whole decades; both ends are drawn."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool

    @classmethod
    def of_times(
        cls, values_ns: Sequence[float], start: float, end: float, logarithmic: bool
    ) -> Scale:
        """Around all values. A logarithmic one begins at 10 ns: no clock here resolves less."""
        low, high = min(values_ns), max(values_ns)
        if logarithmic:
            low = 10.0 ** math.floor(math.log10(max(low, 10.0)))
            high = 10.0 ** math.ceil(math.log10(max(high, 10 * low)))
        else:
            step = tick_step(max(high - low, 1.0))
            low = step * math.floor(low / step)
            high = max(step * math.ceil(high / step), low + step)
        return cls(low, high, start, end, logarithmic)

    def __call__(self, value: float) -> float:
        """The place; a value beyond an end is drawn at that end."""
        inside = min(max(value, self.low), self.high)
        if self.logarithmic:
            part = math.log(inside / self.low) / math.log(self.high / self.low)
        else:
            part = (inside - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * part

    def ticks(self) -> list[float]:
        if self.logarithmic:
            decades = round(math.log10(self.high / self.low))
            return [self.low * 10.0**n for n in range(decades + 1)]
        step = tick_step(self.high - self.low)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [n * step for n in range(first, last + 1)]


def tick_step(extent: float) -> float:
    """1, 2 or 5 times a power of ten, so that there are four to ten ticks."""
    rough = extent / 8
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next(step for step in STEPS if step * power >= rough * (1 - 1e-9))


def time_label(nanoseconds: float) -> str:
    """As a whole number of the largest unit that leaves one, or nearly."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.4g} {unit}"
    return f"{nanoseconds:.4g} ns" if nanoseconds else "0"
