# SPDX-License-Identifier: Apache-2.0
"""The kernel's token bucket (`tbf`) computed packet by packet, and what a run kept of its arrivals.

`tbf` (net/sched/sch_tbf.c) sends the packet at the head of its queue as soon as the bucket holds
tokens for it. The bucket holds at most `burst` bytes, gains `rate`, and begins full. The bytes of a
packet are those of its IP packet and of its Ethernet header. No schedule that keeps the rate and
the burst sends any packet earlier, so a packet that the kernel sends leaves at or after the time
that departures() computes. Times are integers in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_BITS = 8
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Departure:
    """When a packet leaves the bucket."""

    at_ns: int
    found_it_idle: bool
    """Whether the packet came when the bucket was full and no other packet waited."""


def departures(
    packets: Iterable[tuple[int, int]], rate_bit_s: int, burst_bytes: int
) -> list[Departure]:
    """Returns the departures of packets (arrival and bytes), in their order. The line behind the
    bucket takes no time. Throws ValueError for a packet that the bucket never has tokens for."""
    full = burst_bytes * _BITS * _NS_PER_S  # bits / 1e9: what the rate gives in a nanosecond is 1
    tokens, since_ns = full, 0
    result: list[Departure] = []
    for arrived_ns, size in packets:
        cost = size * _BITS * _NS_PER_S
        if cost > full:
            raise ValueError(f"a packet of {size} bytes, and a burst of {burst_bytes}")
        begun_ns = max(arrived_ns, since_ns) if result else arrived_ns
        tokens = min(full, tokens + rate_bit_s * (begun_ns - since_ns)) if result else full
        idle = tokens == full and begun_ns == arrived_ns
        waits_ns = max(0, -(-(cost - tokens) // rate_bit_s))
        since_ns = begun_ns + waits_ns
        tokens = min(full, tokens + rate_bit_s * waits_ns) - cost
        result.append(Departure(since_ns, idle))
    return result


def least_jitter_ns(messages: Sequence[tuple[int, int]], period_ns: int) -> int:
    """Returns the least jitter with which these messages (arrivals of the first and of the last
    packet, in order) keep to a period: within any closed interval of length t are packets of no
    more than floor((t + jitter) / period) + 1 of them."""
    least = 0
    behind: int | None = None  # the most that an earlier message was behind its place
    for number, (first_ns, last_ns) in enumerate(messages):
        place_ns = number * period_ns
        if behind is not None:
            least = max(least, behind - (first_ns - place_ns))
        behind = last_ns - place_ns if behind is None else max(behind, last_ns - place_ns)
    return least


def least_burst_bytes(packets: Iterable[tuple[int, int]], rate_bit_s: int) -> int:
    """Returns the least burst with which packets (arrival and bytes, in order) keep to a rate."""
    before: int | None = None  # the least of (bytes before - rate x time), in bits / 1e9
    bits, least = 0, 0
    for arrived_ns, size in packets:
        given = rate_bit_s * arrived_ns
        here = bits - given
        before = here if before is None else min(before, here)
        bits += size * _BITS * _NS_PER_S
        least = max(least, bits - given - before)
    return -(-least // (_BITS * _NS_PER_S))


def largest_backlog_bytes(packets: Sequence[tuple[int, int, int]]) -> int:
    """Returns the most bytes that waited. `packets`: arrival, departure and bytes, in order."""
    waiting = most = gone = 0
    for arrived_ns, _, size in packets:
        while packets[gone][1] < arrived_ns:
            waiting -= packets[gone][2]
            gone += 1
        waiting += size
        most = max(most, waiting)
    return most
