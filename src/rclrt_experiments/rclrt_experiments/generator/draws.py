# SPDX-License-Identifier: Apache-2.0
"""Random draws that are the same on every machine and under every version of Python.

Python guarantees the sequence of `random.Random.random()` for a seed, but not of the functions that
are built on it. Sums and products of doubles are the same everywhere. Powers and logarithms are
not: they come from `decimal`, which rounds them correctly.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Sequence
from decimal import Context, Decimal
from typing import TypeVar

T = TypeVar("T")

SHARE = Decimal("1e-9")
"""The resolution of utilisations."""
_CONTEXT = Context(prec=28)


class Draws:
    """One stream of draws; streams of one seed and different names are independent."""

    def __init__(self, seed: int, name: str) -> None:
        self._random = random.Random(f"{seed}:{name}")

    def uniform(self) -> float:
        """Returns a value of at least 0 and below 1."""
        return self._random.random()

    def index(self, count: int) -> int:
        """Returns one of 0 to count - 1, all equally likely."""
        return int(self.uniform() * count)

    def chance(self, probability: float) -> bool:
        return self.uniform() < probability

    def one_of(self, items: Sequence[T]) -> T:
        return items[self.index(len(items))]

    def weighted(self, items: Sequence[T], weights: Sequence[float]) -> T:
        """Returns one of the items, with a probability proportional to its weight."""
        rest = self.uniform() * math.fsum(weights)
        for item, weight in zip(items, weights, strict=True):
            rest -= weight
            if rest < 0:
                return item
        return items[-1]

    def between(self, low: float, high: float) -> float:
        return low + self.uniform() * (high - low)

    def normal(self) -> Decimal:
        """Returns a random number from the standard normal distribution (mean 0, deviation 1), by
        the polar method (Marsaglia and Bray, SIAM Review, 1964)."""
        while True:
            u, v = 2 * self.uniform() - 1, 2 * self.uniform() - 1
            square = u * u + v * v
            if 0 < square < 1:
                break
        s = Decimal(square)
        factor = _CONTEXT.sqrt(_CONTEXT.divide(-2 * _CONTEXT.ln(s), s))
        return _CONTEXT.multiply(Decimal(u), factor)

    def log_uniform(self, low: int, high: int) -> Decimal:
        """Returns a value between the two. Its logarithm is uniform."""
        first = _CONTEXT.ln(Decimal(low))
        step = _CONTEXT.multiply(_CONTEXT.ln(Decimal(high)) - first, Decimal(self.uniform()))
        return _CONTEXT.exp(first + step)

    def power(self, exponent: int) -> Decimal:
        """Returns a uniform draw to the power of 1 / exponent."""
        return _CONTEXT.power(Decimal(self.uniform()), _CONTEXT.divide(Decimal(1), exponent))

    def shuffled(self, items: Sequence[T]) -> list[T]:
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.index(last + 1)
            result[last], result[other] = result[other], result[last]
        return result


def uunifast(draws: Draws, count: int, total: Decimal) -> list[Decimal]:
    """Draws `count` shares with the sum `total`, uniformly from all such lists (UUniFast: Bini and
    Buttazzo, "Measuring the performance of schedulability tests", Real-Time Systems 30, 2005)."""
    shares, left = [], total
    for others in range(count - 1, 0, -1):
        rest = (left * draws.power(others)).quantize(SHARE)
        shares.append(left - rest)
        left = rest
    return [*shares, left]


def randfixedsum(
    draws: Draws, count: int, total: Decimal, low: Decimal, high: Decimal
) -> list[Decimal]:
    """Draws `count` shares between `low` and `high` with the sum `total`, uniformly from all such
    lists (RandFixedSum: R. Stafford's algorithm, in P. Emberson, R. Stafford and R. Davis,
    "Techniques for the synthesis of multiprocessor tasksets", WATERS 2010). `total` must be from
    count * low to count * high."""
    if count == 1 or low == high:
        return [total / count] * count
    scaled = float((total - count * low) / (high - low))
    unit = _unit_sum(draws, count, min(max(scaled, 0.0), float(count)))
    shares = [
        (low + (high - low) * Decimal(value)).quantize(SHARE) for value in draws.shuffled(unit)
    ]
    error = total - sum(shares)
    for n, share in enumerate(shares):  # rounding, at most a grain each
        mended = min(max(share + error, low), high)
        error -= mended - share
        shares[n] = mended
    return shares


def _unit_sum(draws: Draws, count: int, total: float) -> list[float]:
    """Draws `count` values between 0 and 1 with the sum `total`, uniformly from all such lists. The
    region of these lists is a union of simplices; a table of their volumes gives the probability of
    each simplex, and one coordinate is drawn after the other."""
    k = int(min(max(math.floor(total), 0), count - 1))
    total = min(max(total, float(k)), float(k + 1))
    below = [total - (k - n) for n in range(count)]
    above = [(k + count - n) - total for n in range(count)]
    volumes = [0.0] * (count + 1)
    volumes[1] = sys.float_info.max
    likely: list[list[float]] = []
    for size in range(2, count + 1):
        tail = above[count - size :]
        row, new = [], [0.0] * (count + 1)
        for n in range(size):
            left = volumes[n + 1] * below[n] / size
            right = volumes[n] * tail[n] / size
            new[n + 1] = left + right
            whole = left + right + sys.float_info.min
            row.append(right / whole if tail[n] > below[n] else 1 - left / whole)
        volumes = new
        likely.append(row)
    values, offset, product, column = [], 0.0, 1.0, k
    for size in range(count - 1, 0, -1):
        step = 1 if draws.uniform() <= likely[size - 1][column] else 0
        root = float(draws.power(size))
        offset += (1 - root) * product * total / (size + 1)
        product *= root
        values.append(offset + product * step)
        total -= step
        column -= step
    values.append(offset + product * total)
    return values
