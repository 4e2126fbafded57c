# SPDX-License-Identifier: Apache-2.0
"""The properties of a link that follow from the delays of messages of several sizes.

A message of w bytes that finds the link idle takes a fixed time f, and w / C on a line of rate C.
Behind a shaper of rate R with a full bucket of b bytes it takes f + (w - b) / R if that is longer.
So the delays over w are one line, or two with a knee. The rate is the median slope between the
larger sizes (Theil 1950; Sen 1968), of the shortest delay of each size: whatever else happens on
two hosts makes a message slower, not faster.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

IP_BYTES = 20
UDP_BYTES = 8
ETHERNET_BYTES = 14
MTU_BYTES = 1500
MIDDLEWARE_BYTES = 100
"""RTPS headers, the encoding, and the token of the chain."""
LARGER = 0.45
"""Sizes from this share of the largest one on count for the rate."""
_PLAIN_BYTES = 2 * (MTU_BYTES + ETHERNET_BYTES)
_BITS_MS = 8
"""kbit/s of a byte each millisecond."""
FLAT = 0.5
"""Below the burst, a delay grows by less than this share of what the shaper's rate would take."""
CLEAR_MS = 0.25
"""A burst saves its messages at least this; less may be the hosts' doing."""


@dataclass(frozen=True)
class SizeDelays:
    """The messages of one size in one direction. Times are milliseconds."""

    bytes: int
    sent: int
    received: int
    best: float
    p50: float
    p99: float
    error: float
    """By how much the times may be wrong, in either direction: the clocks of the hosts."""

    @property
    def on_line(self) -> int:
        return bytes_on_line(self.bytes)

    def to_json(self) -> dict[str, Any]:
        return {
            "bytes": self.bytes,
            "bytes_on_line": self.on_line,
            "sent": self.sent,
            "received": self.received,
            "best_ms": self.best,
            "p50_ms": self.p50,
            "p99_ms": self.p99,
            "error_ms": self.error,
        }


@dataclass(frozen=True)
class LinkFit:
    """One direction of a link, as measured."""

    rate_kbit: float | None
    """None: larger messages took no longer, so the rate is higher than can be measured."""
    burst_bytes: int | None
    """Burst of a shaper. None: no sign of one."""
    line_kbit: float | None
    """The rate below the burst. None: there is no burst, or it is too high to be measured."""
    fixed_ms: float
    """The shortest time that a message took beyond its bytes at the rate."""
    fixed_p99_ms: float
    """That of the smallest messages at the 99th percentile."""
    access_ms: float
    """How much longer than these the larger ones took, that wait for a shaper if there is one: the
    median of the sizes."""
    error_ms: float
    sent: int
    lost: int

    def to_json(self) -> dict[str, Any]:
        return {
            "rate_kbit": self.rate_kbit,
            "burst_bytes": self.burst_bytes,
            "line_kbit": self.line_kbit,
            "fixed_ms": self.fixed_ms,
            "fixed_p99_ms": self.fixed_p99_ms,
            "access_ms": self.access_ms,
            "error_ms": self.error_ms,
            "sent": self.sent,
            "lost": self.lost,
        }


def bytes_on_line(size: int) -> int:
    """Returns the bytes of a message of this size with its headers up to Ethernet's, as `tbf`
    counts them: one datagram, which IP cuts into packets."""
    datagram = size + MIDDLEWARE_BYTES + UDP_BYTES
    packets = -(-datagram // (MTU_BYTES - IP_BYTES))
    return datagram + packets * (IP_BYTES + ETHERNET_BYTES)


def fitted(delays: Sequence[SizeDelays]) -> LinkFit:
    """Returns the fit. `delays`: of at least three sizes, in ascending order, of which messages
    were received."""
    points = _envelope(delays)
    large = [each for each in points if each.size >= LARGER * points[-1].size]
    each_byte = max(0.0, _slope(large))  # ms
    burst, line_each_byte = None, each_byte
    if each_byte > 0 and (knee := _knee(points, large, each_byte)) is not None:
        burst = math.floor(knee)
        line_each_byte = _slope([each for each in points if each.on_line <= knee])
    expected = [
        max(each.on_line * line_each_byte, (each.on_line - (burst or 0)) * each_byte)
        for each in delays
    ]
    beyond = [each.best - taken for each, taken in zip(delays, expected, strict=True)]
    fixed_p99 = delays[0].p99 - expected[0]
    over = [
        each.p99 - taken - fixed_p99
        for each, taken in zip(delays[1:], expected[1:], strict=True)
        if each.on_line > (burst or 0)
    ]
    return LinkFit(
        rate_kbit=_BITS_MS / each_byte if each_byte > 0 else None,
        burst_bytes=burst,
        line_kbit=_BITS_MS / line_each_byte if burst and line_each_byte > 0 else None,
        fixed_ms=max(0.0, min(beyond)),
        fixed_p99_ms=max(0.0, fixed_p99),
        access_ms=max(0.0, statistics.median(over)) if over else 0.0,
        error_ms=max(each.error for each in delays),
        sent=sum(each.sent for each in delays),
        lost=sum(max(0, each.sent - each.received) for each in delays),
    )


@dataclass(frozen=True)
class _Point:
    size: int
    on_line: int
    best: float


def _envelope(delays: Sequence[SizeDelays]) -> list[_Point]:
    """Returns the shortest delay of each size and all larger ones: a smaller message takes no
    longer. The first messages of a cycle are often slower, because the CPUs were idle."""
    least = math.inf
    points = []
    for each in reversed(delays):
        least = min(least, each.best)
        points.append(_Point(each.bytes, each.on_line, least))
    return points[::-1]


def _knee(points: Sequence[_Point], large: Sequence[_Point], each_byte: float) -> float | None:
    """Returns the bytes at which the line through the larger sizes begins to be above the delay of
    the smaller ones. None: no smaller sizes show that a shaper lets them pass."""
    begin = statistics.median(each.best - each_byte * each.on_line for each in large)
    knee = (points[0].best - begin) / each_byte
    below = [each for each in points if each.on_line <= knee]
    if knee < _PLAIN_BYTES or len(below) < 2 or below[-1].size >= large[0].size:
        return None
    rise = below[-1].best - below[0].best
    expected = each_byte * (below[-1].on_line - below[0].on_line)
    return knee if rise <= FLAT * expected and expected - rise >= CLEAR_MS else None


def _slope(delays: Sequence[_Point]) -> float:
    """Returns the median of the slopes between two sizes, in ms for a byte; 0 for one size."""
    slopes = [
        (second.best - first.best) / (second.on_line - first.on_line)
        for first, second in itertools.combinations(delays, 2)
    ]
    return statistics.median(slopes) if slopes else 0.0
